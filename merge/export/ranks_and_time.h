// Which processes and which time of each an export holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/study/arrivals.h"
#include "merge/study/study.h"

namespace jaxprof::exporting {

struct RanksAndTime {
  std::vector<std::uint8_t> is_wanted;       // [processes]
  std::vector<study::Intervals> of_process;  // [processes]: what begins in it is exported
  study::TimeSpan around;                    // from the first of these instants to the last
  std::string words;                         // "steps 3-5 of ranks 0-7"
};

// Which of StepAxis::steps(), and in words. Empty: steps do not matter.
struct StepChoice {
  std::vector<std::uint8_t> is_wanted;
  std::string words;
  std::string why;  // "most wait is in step 4: 1.2 s"; "" where they were asked for
};

// --steps as asked.
StepChoice asked_steps(const study::StepAxis& axis, const study::StudyOptions& asked);
// Where nothing is asked for: the step with most wait and the steps around it; without collectives the longest one. All
// of a run without steps. `scope` and `arrivals` are of the steady steps.
StepChoice worst_steps(const study::Scope& scope, const study::Arrivals& arrivals);

// --ranks, --segment and --window as asked; without all of them the whole run.
RanksAndTime choose_ranks_and_time(const runfile::RunTables& run, const study::StepAxis& axis, const StepChoice& steps,
                                   const study::StudyOptions& asked);

}  // namespace jaxprof::exporting
