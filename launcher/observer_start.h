// Starts the observer of a node such that the job does not notice: a child of a child, so that nobody whom the job may
// ask has one more child, in a session of its own. An orphan goes to the nearest reaper above, which is the batch
// system's daemon before the wrapper has become its job's reaper, and the wrapper itself from then on; so its number is
// told. What else the observer lets go of it does itself.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

// Any thread, also where others run: between fork and exec there are system calls only. Returns the observer's number
// once it runs, 0 if that takes longer than a moment. kNodeNotReady if no process can be made or `command`, a path and
// its arguments, cannot be executed.
Result<pid_t> start_observer(const std::vector<std::string>& command, const std::vector<std::string>& environment);

}  // namespace jaxprof::launcher
