#include "merge/study/port_rates.h"

#include "merge/study/traffic_words.h"

namespace jaxprof::study {
namespace {

using namespace jaxprof::runfile;

void add_counter(const CounterTable& table, const CounterColumn& column, PortRates& port) {
  if (column.kind == CounterKind::kGauge) return;
  const Traffic traffic = traffic_of(column);
  if (traffic != Traffic::kOutBytes && traffic != Traffic::kInBytes) return;
  std::vector<GrowthSpan> spans;
  grow(table, column, table.offset[port.nic], table.offset[port.nic + 1], &spans);
  std::vector<GrowthSpan>& to = traffic == Traffic::kOutBytes ? port.out : port.in;
  if (to.empty()) {
    to = std::move(spans);
    return;
  }
  // Counters that add up are of the same readings, unless one of them was missing there.
  std::size_t i = 0;
  for (const GrowthSpan& span : spans) {
    while (i < to.size() && to[i].end_ns < span.end_ns) ++i;
    if (i < to.size() && to[i].end_ns == span.end_ns && to[i].begin_ns == span.begin_ns) to[i].amount += span.amount;
  }
}

}  // namespace

std::vector<PortRates> port_rates(const RunTables& run) {
  std::vector<PortRates> ports;
  for (std::size_t nic = 0; nic < run.nics.nic.size(); ++nic) {
    for (const CounterTable& table : run.counters) {
      if (table.subject != CounterSubject::kNic || table.offset[nic] == table.offset[nic + 1]) continue;
      PortRates port{nic, {}, {}};
      for (const CounterColumn& column : table.columns) add_counter(table, column, port);
      if (!port.out.empty() || !port.in.empty()) ports.push_back(std::move(port));
    }
  }
  return ports;
}

}  // namespace jaxprof::study
