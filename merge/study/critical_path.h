// What a step was waiting for, all the time: from its last end back to its begin, along the ranks that the others
// waited for. The last member of a collective holds all others up; what it did before, it did since the end of its own
// previous collective, for which its last member held it up, and so on.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/arrivals.h"
#include "merge/study/member_lateness.h"

namespace jaxprof::study {

// A stretch of a step that is spent by one member.
struct PathPiece {
  std::uint32_t step = 0;    // position in StepAxis::steps(); 0 without steps
  std::uint32_t member = 0;  // position in ArrivalMembers
  bool is_transfer = false;  // from its arrival, the last one, on; false: its own time before that
  // The clocks do not tell whether it or another was the last one: it might as well be that one's time.
  bool is_tied = false;
  TimeSpan span;
};

struct PathStep {
  std::uint32_t step = 0;
  TimeSpan span;  // its pieces follow each other and are exactly that
};

struct CriticalPath {
  std::vector<PathStep> steps;    // ascending
  std::vector<PathPiece> pieces;  // by time
};

// Of judged instances. A step's path begins where that of the step before ended, if that is in scope, else at its
// begin, and ends at its last end of a collective. resolution_ns: resolutions_ns().
CriticalPath critical_path(const runfile::RunTables& run, const Scope& scope, const Arrivals& arrivals,
                           const Judged& judged, const std::vector<std::int64_t>& resolution_ns);

}  // namespace jaxprof::study
