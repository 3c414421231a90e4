#include "merge/study/network_findings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "merge/study/human.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

std::string name_of(const RunTables& run, const PortTraffic& port) {
  return name_of_port(run, port.nic) + " on " + host_of_port(run, port.nic);
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

// NCCL falls back to TCP when its plugin does not load; the only sign of it may be here. On one node there is nothing
// to say over RDMA.
void find_idle_rdma(const RunTables& run, const std::vector<PortTraffic>& ports, std::vector<std::string>* findings) {
  struct Node {
    double rdma = 0;
    double netdev = 0;
    std::string host;
    std::set<std::string> drivers;  // of RDMA ports with counters of bytes
  };
  std::map<std::uint32_t, Node> nodes;
  for (const PortTraffic& port : ports) {
    const auto bytes = port.bytes();
    if (!bytes) continue;
    Node& node = nodes[run.nics.node[port.nic]];
    node.host = host_of_port(run, port.nic);
    (port.is_netdev ? node.netdev : node.rdma) += *bytes;
    if (!port.is_netdev) node.drivers.emplace(run.strings.text(run.nics.driver[port.nic]));
  }
  if (run.attributes.n_nodes < 2) return;
  for (const auto& [number, node] : nodes) {
    const bool is_idle = !node.drivers.empty() && node.netdev >= kBusyBytes && node.rdma < kIdleShare * node.netdev;
    if (!is_idle) continue;
    std::string drivers;
    for (const std::string& driver : node.drivers) drivers += (drivers.empty() ? "" : ", ") + driver;
    findings->push_back(fmt::format(
        "RDMA idle on {}: its {} ports moved {} while its network interfaces moved {}, as when NCCL falls back to TCP",
        node.host, drivers, human_bytes(node.rdma), human_bytes(node.netdev)));
  }
}

void find_far_below(const RunTables& run, const std::vector<PortTraffic>& ports, std::vector<std::string>* findings) {
  std::map<std::pair<std::uint32_t, StringId>, std::vector<const PortTraffic*>> siblings;
  for (const PortTraffic& port : ports) {
    if (!port.is_netdev && port.bytes())
      siblings[{run.nics.node[port.nic], run.nics.driver[port.nic]}].push_back(&port);
  }
  for (const auto& [key, all] : siblings) {
    if (all.size() < 3) continue;  // of two nothing tells which one is odd
    for (const PortTraffic* port : all) {
      std::vector<double> others;
      for (const PortTraffic* other : all) {
        if (other != port) others.push_back(*other->bytes());
      }
      const double middle = median(others);
      if (middle < kBusyBytes || *port->bytes() >= kFarBelow * middle) continue;
      findings->push_back(fmt::format("{} moved {}, the median of its {} siblings {}", name_of(run, *port),
                                      human_bytes(*port->bytes()), others.size(), human_bytes(middle)));
    }
  }
}

// One line a kind, with the port that has most of it. Network interfaces drop what nobody wants all the time: that is
// in the table, and no finding.
void find_grown(const RunTables& run, const std::vector<PortTraffic>& ports, Traffic kind, const char* what,
                std::vector<std::string>* findings) {
  std::size_t n_grown = 0;
  const PortTraffic* worst = nullptr;
  for (const PortTraffic& port : ports) {
    const auto& sum = port.of(kind);
    if (port.is_netdev || !sum || sum->total <= 0) continue;
    ++n_grown;
    if (worst == nullptr || sum->total > worst->of(kind)->total) worst = &port;
  }
  if (worst == nullptr) return;
  const auto named = std::find_if(worst->grown.begin(), worst->grown.end(),
                                  [kind](const GrownCounter& counter) { return counter.kind == kind; });
  findings->push_back(fmt::format("{} on {} of {} ports, most on {}: {} (most of it {}: {})", what, n_grown,
                                  ports.size(), name_of(run, *worst), human_number(worst->of(kind)->total), named->name,
                                  human_number(named->total)));
}

}  // namespace

std::vector<std::string> network_findings(const RunTables& run, const std::vector<PortTraffic>& ports) {
  std::vector<std::string> findings;
  find_idle_rdma(run, ports, &findings);
  find_far_below(run, ports, &findings);
  find_grown(run, ports, Traffic::kErrors, "errors", &findings);
  find_grown(run, ports, Traffic::kRetransmits, "retransmits", &findings);
  return findings;
}

}  // namespace jaxprof::study
