// A launcher hands descriptors down to the job: the pipe of PMI_FD, a log, a lock. Whoever reads such a pipe to its end
// waits for the last copy to be closed, and must wait for the job and not for its wrapper. The job needs them all,
// the wrapper none. What a process got over an exec is not close-on-exec, and everything that jaxprof opens is: the
// flag tells the two apart.
#pragma once

namespace jaxprof::launcher {

// Closes this process's copies of all inherited descriptors from 3 on. Main thread, before others are started.
void close_foreign_descriptors();

// Closes all descriptors but `kept`. For a child of fork that goes on without exec.
void close_all_descriptors_but(int kept);

}  // namespace jaxprof::launcher
