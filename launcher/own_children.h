// The wrapper is the reaper of its job's orphans: what outlives its parent becomes the wrapper's child. So its children
// are who is left of the job once the command has ended.
#pragma once

#include <sys/types.h>

#include <vector>

namespace jaxprof::launcher {

// Children of this process that have not been waited for, whichever thread started them (/proc/self/task/*/children,
// CONFIG_PROC_CHILDREN). Empty also where the kernel does not tell.
std::vector<pid_t> own_children();

}  // namespace jaxprof::launcher
