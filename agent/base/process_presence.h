// Is a process that an agent wrote a slot for still there? Its pid alone does not tell: it may be another process's by
// now, a zombie that nobody has waited for, or a number of a container's own that means nothing out here. A process
// that is taken for dead while it records would have its memory saved into a spool that it goes on writing.
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace jaxprof {

// `pid` and `start_ticks` are what the process read of itself (session_page.h); it may live in a pid namespace inside
// the caller's. A zombie whose threads have all ended is gone. Reads /proc; looks at every process there only if `pid`
// is not found as the caller's own number.
bool is_process_present(pid_t pid, std::uint64_t start_ticks);

// The caller's pid namespace: inode of /proc/self/ns/pid; 0 if that cannot be read.
std::uint64_t own_pid_namespace();

}  // namespace jaxprof
