// How the tasks of the step lie on its nodes, as far as Slurm says so: for what a task can tell of the others, since it
// knows only its own place. Other launchers say nothing of the kind. Functions from values to values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/env.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof::launcher {

// Tasks on each node from Slurm's "2,3" or "1(x2)"; empty if `text` is not that.
std::vector<std::int32_t> parse_tasks_per_node(const std::string& text);

// The tasks on each node of the job that `own` is a rank of, by node number; empty if nobody says.
std::vector<std::int32_t> find_tasks_per_node(const RankIdentity& own, const Env& env);

}  // namespace jaxprof::launcher
