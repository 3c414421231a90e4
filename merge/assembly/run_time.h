// When something happened, in words: the wall clock as the axis has it, to look it up in other logs, and how long after
// the run's first stamp, to find it in the run. Findings are written before the run's tables are complete, so the first
// stamp is taken from the spools' anchors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "merge/assembly/run_sources.h"

namespace jaxprof::assembly {

// What a process recorded lies between these: its first and last anchor, on the run's axis, ns.
struct RecordedSpan {
  std::int64_t first_ns = 0;
  std::int64_t last_ns = 0;
};
// Nothing for a process without a clock.
std::optional<RecordedSpan> recorded_span(const SourceProcess& process);

class RunTime {
 public:
  explicit RunTime(const RunSources& sources);

  // "20:12:03.123Z, 41.2 s after the run began", of a time on the axis; only the first part where it is not known
  // when the run began.
  std::string words(std::int64_t realtime_ns) const;

 private:
  std::optional<std::int64_t> begin_ns_;
};

}  // namespace jaxprof::assembly
