// What is told of each link and of the probes of each node: counts, the least round trip, the method, and whether the
// link lies off what all others say by more than noise.
#pragma once

#include <vector>

#include "merge/clock/clock_solution.h"
#include "merge/clock/era_model.h"
#include "merge/clock/eras.h"

namespace jaxprof::clock {

// Fills links and bursts of `solution`, and counts and methods of its nodes, whose knots are there.
void summarize_links(const std::vector<ProbeLink>& links, const Eras& eras, const EraModel& model,
                     ClockSolution* solution);

}  // namespace jaxprof::clock
