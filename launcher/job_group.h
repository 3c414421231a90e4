// Run directly, a command that a launcher or a shell starts leads the process group that signals and the terminal are
// meant for. Behind the wrapper it is a member of the wrapper's group, until it makes one of its own.
#pragma once

#include <unistd.h>

namespace jaxprof::launcher {

// The job would lead its group if the wrapper were not there.
inline bool leads_its_group() {
  return getpgrp() == getpid();
}

// The process group that the job leads outside of the wrapper's; 0 if there is none. `job` has not been waited for.
inline pid_t group_of_its_own(pid_t job) {
  const pid_t group = getpgid(job);
  return group == job && group != getpgrp() ? group : 0;
}

}  // namespace jaxprof::launcher
