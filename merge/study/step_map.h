// Ranks by steps: in which step a rank came late, and in which it was at fault. What stragglers and lateness sum over
// all steps, step by step.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/straggler_facts.h"

namespace jaxprof::study {

// Values at subject * steps.size() + position in `steps`, ns.
struct StepMap {
  Subjects ranks;
  std::vector<std::uint32_t> steps;         // positions in StepAxis::steps(); {0} of a run without steps
  std::vector<std::int64_t> fault_ns;       // what others waited by its doing; over steps it is the study's fault
  std::vector<std::int64_t> off_middle_ns;  // median over the step's instances of its arrival against the middle one;
                                            // kNoLateness: it was in none that is resolved
};

StepMap map_steps(const runfile::RunTables& run, const StragglerFacts& facts);

}  // namespace jaxprof::study
