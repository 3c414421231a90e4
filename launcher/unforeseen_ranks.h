// torchrun or mpirun in a script: `jaxprof-exec -- bash launch.sh` looks like one rank and turns out to be many. Each
// of them has decided by its own rank whether it is recorded, but what was said and counted before was about tasks, and
// a rank behind a task that was not selected has run without jaxprof. That has to be said, with the option that mends
// it.
#pragma once

#include <string>

#include "agent/contract/session_page.h"

namespace jaxprof::launcher {

// Names the first process of the page whose rank is another than the task's; `program` is the command's first word. ""
// if there is none, if the command was known to start ranks, or if the task has no rank that could be meant instead.
std::string describe_unforeseen_ranks(const SessionPage& page, const std::string& program);

}  // namespace jaxprof::launcher
