// A session travels by an environment variable, and environments travel further than runs do: an srun or sbatch inside
// the profiled command hands it to tasks of another step, a folder that all nodes share shows the page to processes of
// another node. What such a process recorded would be filed under a rank, a node and a clock that are not its own, so
// it has to notice, and stay dead. Decides from values alone; the agent asks once, before it touches the page. What an
// mpirun, a torchrun or a hydra inside the command has started on the wrapper's node is no stranger. Agent-safe.
#pragma once

#include "agent/base/env.h"
#include "agent/contract/session_page.h"

namespace jaxprof {

// True if the process with environment `env`, on a node that was booted as `boot_id` ("": unknown), belongs to another
// run than the one that `plan` was made for.
bool is_stranger(const SessionPlan& plan, const char* boot_id, const Env& env) noexcept;

}  // namespace jaxprof
