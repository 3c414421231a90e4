#include "merge/study/port_traffic.h"

#include <fmt/format.h>

#include <algorithm>

#include "merge/study/distribution.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

bool is_trouble(Traffic traffic) {
  return traffic == Traffic::kRetransmits || traffic == Traffic::kCongestion || traffic == Traffic::kErrors;
}

// A sum of two counters has no percentiles: they were not fast at the same time. Its peak is at most this.
void add_growth(const Growth& growth, std::optional<TrafficSum>* sum) {
  const Distribution rates = describe(growth.per_s);
  const auto as_real = [](std::optional<std::int64_t> value) {
    return value ? std::optional<double>(static_cast<double>(*value)) : std::nullopt;
  };
  if (!*sum) {
    *sum = TrafficSum{growth.total, growth.mean_per_s(), rates.p99, as_real(rates.max)};
    return;
  }
  const auto add = [](std::optional<double> a, std::optional<double> b) {
    return a && b ? std::optional<double>(*a + *b) : (a ? a : b);
  };
  TrafficSum& to = **sum;
  const bool is_idle = growth.total == 0;
  const bool was_idle = to.total == 0;
  to.p99_per_s = is_idle ? to.p99_per_s : was_idle ? rates.p99 : std::nullopt;
  to.total += growth.total;
  to.mean_per_s = add(to.mean_per_s, growth.mean_per_s());
  to.peak_per_s = add(to.peak_per_s, as_real(rates.max));
}

void add_counter(const CounterTable& table, const CounterColumn& column, PortTraffic* port) {
  if (column.kind == CounterKind::kGauge) return;
  const Traffic traffic = traffic_of(column);
  if (traffic == Traffic::kOther) return;
  const Growth growth = grow(table, column, table.offset[port->nic], table.offset[port->nic + 1]);
  if (growth.n_values == 0) return;
  port->resets = std::max(port->resets, growth.resets);
  if (growth.is_saturated) port->saturated.push_back(column.name);
  // Bytes that were sent again are no number of retransmits; the packets are counted as well.
  if (traffic == Traffic::kErrors && column.unit == CounterUnit::kBytes) return;
  add_growth(growth, &port->kinds[static_cast<std::size_t>(traffic)]);
  if (is_trouble(traffic) && growth.total > 0) port->grown.push_back({column.name, traffic, growth.total});
}

}  // namespace

std::optional<double> PortTraffic::bytes() const {
  const auto& out = of(Traffic::kOutBytes);
  const auto& in = of(Traffic::kInBytes);
  if (!out && !in) return std::nullopt;
  return (out ? out->total : 0) + (in ? in->total : 0);
}

std::string host_of_port(const RunTables& run, std::size_t nic) {
  const std::uint32_t node = run.nics.node[nic];
  const std::string_view host = node == kNoIndex ? std::string_view() : run.strings.text(run.nodes.host[node]);
  return host.empty() ? "an unknown node" : std::string(host);
}

std::string name_of_port(const RunTables& run, std::size_t nic) {
  const std::string_view name = run.strings.text(run.nics.full_name[nic]);
  const std::int32_t number = run.nics.port[nic];
  return number > 1 ? fmt::format("{}/{}", name, number) : std::string(name);
}

std::vector<PortTraffic> port_traffic(const RunTables& run) {
  std::vector<PortTraffic> ports;
  for (std::size_t nic = 0; nic < run.nics.nic.size(); ++nic) {
    for (const CounterTable& table : run.counters) {
      if (table.subject != CounterSubject::kNic || table.offset[nic] == table.offset[nic + 1]) continue;
      PortTraffic& port = ports.emplace_back();
      port.nic = nic;
      port.is_netdev = run.nics.source[nic] == NicSource::kNetdev || run.nics.port[nic] == 0;
      for (const CounterColumn& column : table.columns) add_counter(table, column, &port);
      std::stable_sort(port.grown.begin(), port.grown.end(),
                       [](const GrownCounter& a, const GrownCounter& b) { return a.total > b.total; });
    }
  }
  return ports;
}

}  // namespace jaxprof::study
