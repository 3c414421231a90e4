// Whether a run is known to be on one node: then there is no other whose clock could be compared. Launchers tell a task
// how many there are, and some how many of them are on its own node; what they do not tell stays unknown, which is the
// answer "no". Functions from values to values.
#pragma once

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof::launcher {

// `own` is this task's rank. JAXPROF_RUN joins what launchers know nothing of: a run that has it is never known.
bool is_known_single_node(const RankIdentity& own, const Env& env);

}  // namespace jaxprof::launcher
