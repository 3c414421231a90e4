// What the studies have to say of the scenarios of tests/synthetic, one function a statement.
#pragma once

#include "tests/unit/synthetic/truth_claim.h"

namespace jaxprof::test {

// The first cause of the run; null where there is none.
inline const synthetic::InjectedCause* main_cause(const FiledTraining& run) {
  for (const auto& step : run.truth().steps) {
    if (!step.injected.empty()) return &step.injected.front();
  }
  return nullptr;
}

// ---- lateness
Score latest_of_its_own(const FiledTraining& run);
Score is_hardly_certain(const FiledTraining& run);
Score is_mostly_unresolved(const FiledTraining& run);
Score has_nothing_to_compare(const FiledTraining& run);

// ---- pace
Score names_the_last_of_each_step(const FiledTraining& run);
Score shows_which_steps_are_slow(const FiledTraining& run);

// ---- what-if
Score gains_what_the_straggler_cost(const FiledTraining& run);
Score gains_what_transfers_cost(const FiledTraining& run);
Score gains_what_all_cost(const FiledTraining& run);

// ---- stragglers
// Of all steps that were judged: who, at which level, and why; nobody in a sound one.
Score judges_each_step(const FiledTraining& run);
// Of the whole run: level and cause of the verdict, and who is named.
Score names_the_straggler(const FiledTraining& run);
Score names_nobody(const FiledTraining& run);
// The verdict is about some steps, and says who or what it was.
Score names_the_slow_steps(const FiledTraining& run);
Score says_that_lateness_moves(const FiledTraining& run);
// Waits and blame by rank are those of the job, as far as the clocks tell; as much is blamed as is waited.
Score shares_out_waiting(const FiledTraining& run);
Score can_judge_nobody(const FiledTraining& run);

}  // namespace jaxprof::test
