#include "merge/study/port_evidence.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "merge/study/counter_growth.h"
#include "merge/study/human.h"
#include "merge/study/port_traffic.h"
#include "merge/study/traffic_words.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

// What one port did in the stretches.
struct Moved {
  std::uint32_t nic = 0;
  std::size_t n_samples = 0;
  double bytes = 0;
  std::vector<double> troubles;  // by column of the driver's table; 0 for other counters
  double worst_ratio = 0;        // against the median of the peers
  std::size_t worst_column = 0;
  double share_of_peers = 1;
};

bool is_trouble(Traffic traffic) {
  return traffic == Traffic::kRetransmits || traffic == Traffic::kCongestion || traffic == Traffic::kErrors;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Rows whose growth covers the stretch: from the last reading before it to the first one behind it.
std::pair<std::uint64_t, std::uint64_t> rows_around(const CounterTable& table, std::uint32_t nic, TimeSpan span) {
  const auto begin = table.time_ns.begin() + static_cast<std::ptrdiff_t>(table.offset[nic]);
  const auto end = table.time_ns.begin() + static_cast<std::ptrdiff_t>(table.offset[nic + 1]);
  auto first = std::upper_bound(begin, end, span.begin_ns);
  if (first != begin) --first;
  auto last = std::lower_bound(first, end, span.end_ns);
  if (last != end) ++last;
  return {static_cast<std::uint64_t>(first - table.time_ns.begin()),
          static_cast<std::uint64_t>(last - table.time_ns.begin())};
}

// The same rows, and as many more on either side as it takes to have a reading of a counter that is read seldom.
std::pair<std::uint64_t, std::uint64_t> rows_with_values(const CounterTable& table, const CounterColumn& column,
                                                         std::uint32_t nic,
                                                         std::pair<std::uint64_t, std::uint64_t> rows) {
  auto [first, last] = rows;
  while (first > table.offset[nic] && column.values[first] == kNoSample) --first;
  while (last < table.offset[nic + 1] && (last == first || column.values[last - 1] == kNoSample)) ++last;
  return {first, last};
}

Moved moved_by(const CounterTable& table, std::uint32_t nic, const Intervals& when) {
  Moved moved;
  moved.nic = nic;
  moved.troubles.assign(table.columns.size(), 0);
  for (const TimeSpan& span : when.spans()) {
    const auto [first, last] = rows_around(table, nic, span);
    moved.n_samples += last - first;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const CounterColumn& column = table.columns[i];
      const Traffic traffic = traffic_of(column);
      if (column.kind == CounterKind::kGauge) continue;
      const bool is_bytes = traffic == Traffic::kOutBytes || traffic == Traffic::kInBytes;
      if (!is_bytes && !is_trouble(traffic)) continue;
      const auto [from, to] = rows_with_values(table, column, nic, {first, last});
      const double total = grow(table, column, from, to).total;
      (is_bytes ? moved.bytes : moved.troubles[i]) += total;
    }
  }
  return moved;
}

// Sets how each port stands to the others.
void compare(std::vector<Moved>& ports) {
  for (Moved& port : ports) {
    const auto of_others = [&](auto value) {
      std::vector<double> values;
      for (const Moved& other : ports) {
        if (&other != &port) values.push_back(value(other));
      }
      return median(std::move(values));
    };
    const double usual = of_others([](const Moved& other) { return other.bytes; });
    port.share_of_peers = usual > 0 ? port.bytes / usual : 1;
    for (std::size_t i = 0; i < port.troubles.size(); ++i) {
      if (port.troubles[i] <= 0) continue;
      const double ratio =
          port.troubles[i] / std::max(1.0, of_others([i](const Moved& other) { return other.troubles[i]; }));
      if (ratio > port.worst_ratio) {
        port.worst_ratio = ratio;
        port.worst_column = i;
      }
    }
  }
}

}  // namespace

PortEvidence find_slow_port(const RunTables& run, const Intervals& when) {
  PortEvidence evidence;
  for (const CounterTable& table : run.counters) {
    if (table.subject != CounterSubject::kNic || table.time_ns.empty()) continue;
    std::vector<Moved> ports;
    for (std::uint32_t nic = 0; nic + 1 < table.offset.size(); ++nic) {
      const bool is_netdev = run.nics.source[nic] == NicSource::kNetdev || run.nics.port[nic] == 0;
      if (is_netdev || table.offset[nic] == table.offset[nic + 1]) continue;
      evidence.has_counters = true;
      Moved moved = moved_by(table, nic, when);
      if (moved.n_samples < kLeastSamples) {
        evidence.is_too_coarse = true;
      } else if (moved.bytes >= kLeastPortBytes) {
        ports.push_back(std::move(moved));
      }
    }
    evidence.n_ports += ports.size();
    if (ports.size() < 3) continue;
    compare(ports);
    const Moved* worst = nullptr;
    std::size_t n_slow = 0;
    for (const Moved& port : ports) {
      if (port.share_of_peers >= kSlowPortShare || port.worst_ratio < kTroubleOfPeers) continue;
      ++n_slow;
      if (worst == nullptr || port.share_of_peers < worst->share_of_peers) worst = &port;
    }
    if (worst == nullptr || 4 * n_slow > ports.size()) continue;
    evidence.port = SlowPort{worst->nic, worst->share_of_peers, table.columns[worst->worst_column].name,
                             worst->troubles[worst->worst_column]};
  }
  return evidence;
}

std::string words_of(const RunTables& run, const SlowPort& port) {
  return fmt::format("{} on {} moved {:.2f} of what its peers did, and counted {} {}", name_of_port(run, port.nic),
                     host_of_port(run, port.nic), port.share_of_peers, human_number(port.trouble_total), port.trouble);
}

}  // namespace jaxprof::study
