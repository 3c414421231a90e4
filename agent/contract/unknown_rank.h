// Why is this process's rank not known? Mostly because it has none and needs none: a person started one process. But a
// batch system may have started it where many were meant, and a launcher's numbers may contradict each other. This
// names what was seen in the environment, for the line that the wrapper prints. For tools.
#pragma once

#include <string>

#include "agent/base/env.h"

namespace jaxprof {

// For an environment in which resolve_rank finds no rank: what there is that hints at ranks, as a clause without an
// end, e.g. "RANK=4 is no number below WORLD_SIZE=4". "" if nothing does.
std::string describe_unknown_rank(const Env& env);

}  // namespace jaxprof
