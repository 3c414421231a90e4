#include "merge/assembly/run_epoch.h"

#include <algorithm>
#include <limits>

#include "merge/assembly/run_time.h"

namespace jaxprof::assembly {
namespace {

struct Span {
  std::int64_t first_ns = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ns = std::numeric_limits<std::int64_t>::min();
  void include(std::int64_t time_ns) {
    first_ns = std::min(first_ns, time_ns);
    last_ns = std::max(last_ns, time_ns);
  }
};

Span span_of(const RunSources& sources) {
  Span span;
  for (const SourceProcess& process : sources.processes) {
    const auto recorded = recorded_span(process);
    if (!recorded) continue;
    span.include(recorded->first_ns);
    span.include(recorded->last_ns);
  }
  for (const SourceObserver& observer : sources.observers) {
    if (!observer.clock.is_valid()) continue;
    for (const spool::AnchorRecord& anchor : observer.trace.anchors()) {
      span.include(observer.clock.axis_ns(anchor.counter));
    }
  }
  if (span.first_ns > span.last_ns) span = {0, 0};
  return span;
}

}  // namespace

std::int64_t epoch_of(const RunSources& sources) {
  return span_of(sources).first_ns;
}

std::int64_t end_of(const RunSources& sources) {
  return span_of(sources).last_ns;
}

void shift_to_epoch(std::int64_t epoch_ns, runfile::RunTables* run) {
  run->attributes.epoch_unix_ns = epoch_ns;
  // A node may have been looked at before its first event.
  for (std::int64_t& time : run->clock_model.time_ns) time -= epoch_ns;
  for (auto* column :
       {&run->processes.start_ns, &run->processes.end_ns, &run->observers.start_ns, &run->observers.end_ns,
        &run->segments.open_ns, &run->segments.close_ns, &run->clock_steps.time_ns}) {
    for (std::int64_t& time : *column) {
      if (time != runfile::kNoTime) time = std::max<std::int64_t>(time - epoch_ns, 0);
    }
  }
}

}  // namespace jaxprof::assembly
