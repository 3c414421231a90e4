#include "merge/study/network.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "merge/study/human.h"
#include "merge/study/network_findings.h"
#include "merge/study/port_traffic.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;
using Ports = std::vector<PortTraffic>;

std::string text_of(const RunTables& run, StringId id) {
  return std::string(run.strings.text(id));
}

Cell total(const PortTraffic& port, Traffic traffic) {
  const auto& sum = port.of(traffic);
  return sum ? Cell{whole_number(sum->total)} : Cell{Missing{}};
}

Cell rate(const PortTraffic& port, Traffic traffic, std::optional<double> TrafficSum::*which) {
  const auto& sum = port.of(traffic);
  if (!sum || !((*sum).*which)) return Missing{};
  return *((*sum).*which) / 1e9;
}

// The peak of the busier direction as a share of the link's rate.
std::optional<double> peak_share(const RunTables& run, const PortTraffic& port) {
  const double line_bytes_per_s = run.nics.rate_gbps[port.nic] * 1e9 / 8;
  if (!(line_bytes_per_s > 0)) return std::nullopt;
  std::optional<double> peak;
  for (const Traffic traffic : {Traffic::kOutBytes, Traffic::kInBytes}) {
    const auto& sum = port.of(traffic);
    if (sum && sum->peak_per_s) peak = std::max(peak.value_or(0), *sum->peak_per_s);
  }
  if (!peak) return std::nullopt;
  return *peak / line_bytes_per_s;
}

Row row_of(const RunTables& run, const PortTraffic& port) {
  const std::optional<double> share = peak_share(run, port);
  const double line_gbps = run.nics.rate_gbps[port.nic];
  return {host_of_port(run, port.nic),
          name_of_port(run, port.nic),
          text_of(run, run.nics.driver[port.nic]),
          std::string(word(run.nics.source[port.nic])),
          total(port, Traffic::kOutBytes),
          total(port, Traffic::kInBytes),
          total(port, Traffic::kOutPackets),
          total(port, Traffic::kInPackets),
          rate(port, Traffic::kOutBytes, &TrafficSum::mean_per_s),
          rate(port, Traffic::kOutBytes, &TrafficSum::p99_per_s),
          rate(port, Traffic::kOutBytes, &TrafficSum::peak_per_s),
          rate(port, Traffic::kInBytes, &TrafficSum::mean_per_s),
          rate(port, Traffic::kInBytes, &TrafficSum::p99_per_s),
          rate(port, Traffic::kInBytes, &TrafficSum::peak_per_s),
          std::isnan(line_gbps) ? Cell{Missing{}} : Cell{line_gbps},
          share ? Cell{*share} : Cell{Missing{}},
          total(port, Traffic::kSendBytes),
          total(port, Traffic::kReadBytes),
          total(port, Traffic::kWriteBytes),
          total(port, Traffic::kReceiveBytes),
          total(port, Traffic::kReadServedBytes),
          total(port, Traffic::kWriteTakenBytes),
          total(port, Traffic::kRetransmits),
          total(port, Traffic::kCongestion),
          total(port, Traffic::kErrors)};
}

// Packets are shown where a port has nothing else.
std::vector<Column> columns(const Ports& ports) {
  const bool hides_packets = std::all_of(ports.begin(), ports.end(), [](const auto& port) { return port.bytes(); });
  return {{"node", "node"},
          {"port", "port"},
          {"driver", "driver", Unit::kNone, true},
          {"source", "source", Unit::kNone, true},
          {"out_bytes", "out", Unit::kBytes},
          {"in_bytes", "in", Unit::kBytes},
          {"out_packets", "out pkts", Unit::kNone, hides_packets},
          {"in_packets", "in pkts", Unit::kNone, hides_packets},
          {"out_mean_gb_per_s", "out mean", Unit::kGbPerS},
          {"out_p99_gb_per_s", "out p99", Unit::kGbPerS, true},
          {"out_peak_gb_per_s", "out peak", Unit::kGbPerS},
          {"in_mean_gb_per_s", "in mean", Unit::kGbPerS},
          {"in_p99_gb_per_s", "in p99", Unit::kGbPerS, true},
          {"in_peak_gb_per_s", "in peak", Unit::kGbPerS},
          {"line_gbit_per_s", "line Gb/s", Unit::kNone, true},
          {"peak_share", "of line", Unit::kRatio},
          {"send_bytes", "send", Unit::kBytes},
          {"read_bytes", "read", Unit::kBytes},
          {"write_bytes", "write", Unit::kBytes},
          {"receive_bytes", "receive", Unit::kBytes, true},
          {"read_served_bytes", "read served", Unit::kBytes, true},
          {"write_taken_bytes", "write taken", Unit::kBytes, true},
          {"retransmits", "retrans"},
          {"congestion", "congestion"},
          {"errors", "errors"}};
}

// "2 nodes, 64 ports; out 3.1 TiB, in 3 TiB; busiest: rdmap0s6 on n0, 71 % of its line rate".
std::string totals_of(const RunTables& run, const Ports& ports) {
  std::vector<std::uint32_t> nodes;
  double out = 0;
  double in = 0;
  const PortTraffic* busiest = nullptr;
  for (const PortTraffic& port : ports) {
    nodes.push_back(run.nics.node[port.nic]);
    if (const auto& sum = port.of(Traffic::kOutBytes)) out += sum->total;
    if (const auto& sum = port.of(Traffic::kInBytes)) in += sum->total;
    const auto share = peak_share(run, port);
    if (share && (busiest == nullptr || *share > *peak_share(run, *busiest))) busiest = &port;
  }
  std::sort(nodes.begin(), nodes.end());
  const auto n_nodes = std::unique(nodes.begin(), nodes.end()) - nodes.begin();
  std::string text = fmt::format("{} port{} on {} node{}; out {}, in {}", ports.size(), ports.size() == 1 ? "" : "s",
                                 n_nodes, n_nodes == 1 ? "" : "s", human_bytes(out), human_bytes(in));
  if (busiest != nullptr) {
    text += fmt::format("; busiest: {} on {}, {:.1f} % of its line rate at its peak", name_of_port(run, busiest->nic),
                        host_of_port(run, busiest->nic), 100 * *peak_share(run, *busiest));
  }
  return text;
}

// The observers' own words, where they had any.
std::string why_empty(const RunTables& run) {
  if (run.observers.observer.empty()) {
    return "no node was sampled: no observer (jaxprof-netsampler) left a spool in the run's directory";
  }
  for (const std::string_view code : {"nic.none", "node.not-sampled", "nic.trouble", "node.no-clock"}) {
    for (std::size_t i = 0; i < run.diagnostics.code.size(); ++i) {
      if (run.strings.text(run.diagnostics.code[i]) == code) return text_of(run, run.diagnostics.text[i]);
    }
  }
  return "the nodes' observers read no network port";
}

void add_notes(const RunTables& run, const Ports& ports, const std::vector<std::string>& findings, Table* table) {
  for (const std::string& finding : findings) table->notes.push_back("finding: " + finding);
  for (const PortTraffic& port : ports) {
    const std::string where = fmt::format("{} on {}: ", name_of_port(run, port.nic), host_of_port(run, port.nic));
    if (!port.saturated.empty()) {
      table->notes.push_back(where + fmt::format("at their end and not counted: {}", fmt::join(port.saturated, ", ")));
    }
    if (port.resets > 0) {
      table->notes.push_back(where + fmt::format("counters went back {} time{}; what they counted there is missing",
                                                 port.resets, port.resets == 1 ? "" : "s"));
    }
  }
  if (std::any_of(run.observers.is_shared.begin(), run.observers.is_shared.end(),
                  [](std::uint8_t is_shared) { return is_shared == 1; })) {
    table->notes.emplace_back("a node was shared with another run: its counters hold the traffic of both");
  }
  table->notes.emplace_back("definitions: jaxprof-study network --explain");
}

}  // namespace

bool network_wants(std::string_view path) {
  return path.starts_with("/job/") || path.starts_with("/counters/nic/") || path == "/diagnostics";
}

Table network(const RunTables& run, const StudyOptions&) {
  Table table;
  table.study = kNetwork.name;
  const Ports ports = port_traffic(run);
  table.columns = columns(ports);
  for (const PortTraffic& port : ports) table.rows.push_back(row_of(run, port));
  if (ports.empty()) {
    table.verdict = "no network port was read";
    table.empty_reason = why_empty(run);
    return table;
  }
  table.heading = "what each port's driver counted, from the first reading to the last";
  const std::vector<std::string> findings = network_findings(run, ports);
  table.verdict = totals_of(run, ports);
  if (!findings.empty()) {
    const std::string more = findings.size() == 1 ? "" : fmt::format(" (and {} more below)", findings.size() - 1);
    table.verdict = findings.front() + more + "; " + table.verdict;
  }
  add_notes(run, ports, findings, &table);
  return table;
}

}  // namespace jaxprof::study
