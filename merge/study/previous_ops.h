// What each member of a collective did before it: of the operations of its GPU, the synchronizing one that ended last
// before the member arrived. From there to the arrival its time is its own, whoever it waited for earlier.
#pragma once

#include "merge/study/arrivals.h"

namespace jaxprof::study {

// Fills arrivals.members.previous; all else is there. `n_processes` and `n_devices` are those of the run.
void find_previous_ops(std::size_t n_processes, std::size_t n_devices, Arrivals& arrivals);

}  // namespace jaxprof::study
