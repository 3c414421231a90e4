// Training jobs with a straggler of a known place and cause, each by a name and a seed, which decides who is slow, how
// much and in which steps. What a study may say of such a run is in its truth (training_truth.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "tests/simulator/sim_random.h"
#include "tests/synthetic/run_plan.h"

namespace jaxprof::synthetic {

struct Scenario {
  const char* name;
  const char* what;  // a line
  void (*shape)(test::SimRandom* random, RunPlan* plan);
};

std::span<const Scenario> scenarios();

// Eight ranks on four nodes, twenty steps, clocks that were compared. kUsage where there is no such scenario.
Result<RunPlan> scenario_plan(const std::string& name, std::uint64_t seed);

}  // namespace jaxprof::synthetic
