#include "netsampler/nic/sampled_port.h"

#include <algorithm>
#include <array>
#include <utility>

#include "agent/base/clocks.h"
#include "netsampler/nic/counter_difference.h"
#include "netsampler/nic/counter_table.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::size_t kMeasuredReadings = 5;
constexpr std::size_t kMostKept = 64;  // readings, until the next listing

std::uint64_t now_ns() {
  return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC_RAW));
}

// What a listing finds, beside what only opening it tells.
void copy_facts(const PortInfo& found, PortInfo* info) {
  info->name = found.name;
  info->pci = found.pci;
  info->guid = found.guid;
  info->netdev = found.netdev;
  info->numa = found.numa;
  info->port = found.port;
  info->bits_per_s = found.bits_per_s;
  info->is_active = found.is_active;
}

}  // namespace

void SampledPort::begin(const FoundPort& found, PortReader reader, Port* port) {
  const bool is_first = port->columns.empty() && last_.empty();
  found_ = found;
  reader_ = std::move(reader);
  has_returned_ = !is_first && (!port->is_present || outcome_ == ReadOutcome::kLost);
  copy_facts(found.info, &port->info);
  port->info.driver = reader_.driver;
  port->info.source = reader_.source;
  port->info.reason = reader_.reason;
  port->info.lifespan_ns = reader_.lifespan_ns;
  if (port->columns != reader_.columns) {
    port->columns = reader_.columns;
    if (!is_first) ++port->column_set;
    last_.assign(port->columns.size(), spool::kMissingSample);
    last_ns_ = 0;
  }
  port->fast_count = reader_.fast_count;
  port->is_present = true;
  measure(*port);
}

void SampledPort::update(const FoundPort& found, Port* port) {
  found_ = found;
  copy_facts(found.info, &port->info);
}

void SampledPort::end(Port* port) {
  port->is_present = false;
  port->info.is_active = false;
  reader_.sources.clear();
  outcome_ = ReadOutcome::kOk;
}

void SampledPort::measure(const Port& port) {
  std::vector<std::uint64_t> values(port.fast_count != 0 ? port.fast_count : port.columns.size());
  std::array<std::uint64_t, kMeasuredReadings> readings_ns{};
  for (std::uint64_t& reading_ns : readings_ns) {
    const std::uint64_t begin = now_ns();
    outcome_ = reader_.read(values);
    reading_ns = now_ns() - begin;
  }
  reading_ns_ = typical_reading_ns(readings_ns, reader_.lifespan_ns != 0);
}

PeriodWish SampledPort::wish(const Port& port) const {
  const CounterPlace place = port.info.port == 0 ? CounterPlace::kNetdev : CounterPlace::kPortHw;
  return {.default_period_ns = default_period_ns(port.info.driver, place),
          .reading_ns = reading_ns_,
          .has_fast = port.fast_count != 0,
          .is_active = port.info.is_active,
          .is_read = port.is_present && has_counters()};
}

// Where the kernel keeps values, only some readings reach the card: what those take was measured at the beginning.
bool SampledPort::revise() {
  const std::vector<std::uint64_t> took_ns = std::exchange(took_ns_, {});
  if (reader_.lifespan_ns != 0 || took_ns.size() < kMeasuredReadings) return false;
  const std::uint64_t typical_ns = typical_reading_ns(took_ns, false);
  if (!takes_other_time(reading_ns_, typical_ns)) return false;
  reading_ns_ = typical_ns;
  return true;
}

void SampledPort::read(const Port& port, bool fast_only, Reading* reading) {
  reading->is_ok = false;
  reading->flags = 0;
  reading->values.resize(fast_only ? port.fast_count : port.columns.size());
  if (!port.is_present || wants_rescan() || reading->values.empty()) return;
  reading->begin_ns = now_ns();
  outcome_ = reader_.read(reading->values);
  reading->end_ns = now_ns();
  reading->is_ok =
      outcome_ != ReadOutcome::kLost && std::any_of(reading->values.begin(), reading->values.end(),
                                                    [](std::uint64_t value) { return value != spool::kMissingSample; });
  if (!reading->is_ok) return;
  const bool is_usual = fast_only || port.fast_count == 0 || port.fast_count == port.columns.size();
  if (is_usual && took_ns_.size() < kMostKept) took_ns_.push_back(reading->end_ns - reading->begin_ns);
  reading->flags = compare(port, *reading);
  keep(*reading);
}

std::uint32_t SampledPort::compare(const Port& port, const Reading& reading) const {
  std::uint32_t flags = compare_rows(port.columns, last_, reading.values);
  if (has_returned_) flags |= spool::kSampleReturned;
  if (last_ns_ != 0 && is_stale(last_, reading.values, reading.begin_ns - last_ns_, reader_.lifespan_ns)) {
    flags |= spool::kSampleStale;
  }
  return flags;
}

void SampledPort::keep(const Reading& reading) {
  has_returned_ = false;
  last_ns_ = reading.begin_ns;
  for (std::size_t i = 0; i < reading.values.size(); ++i) {
    if (reading.values[i] != spool::kMissingSample) last_[i] = reading.values[i];
  }
}

}  // namespace jaxprof::netsampler
