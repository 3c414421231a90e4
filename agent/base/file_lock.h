// A file that a process holds locked tells others that the process lives: the kernel lets go of the lock at any end of
// it, also a hard one. POSIX record locks (fcntl) belong to the process alone: no child has them, whatever descriptors
// it keeps. They have a trap: closing any descriptor of the file lets go, so nobody who holds a lock may open the file
// once more. For files on a disk of the node.
#pragma once

#include <sys/types.h>

#include <string>

#include "agent/base/result.h"
#include "agent/base/unique_fd.h"

namespace jaxprof {

// What came of trying to lock a file.
struct FileLock {
  UniqueFd fd;        // open: the lock is held until this is closed
  pid_t holder = -1;  // else: who has it, 0 if that process has no number here; -1: there is no such file or folder
  bool is_held() const { return static_cast<bool>(fd); }
};

enum class Missing { kCreate, kLeave };

// True if another process holds `path` locked. Only asks, and takes nothing. False also if the file cannot be opened.
// Not for a file that the caller itself holds locked.
bool is_locked_by_other(const std::string& path);

// Never waits. kNodeNotReady if the file can be neither locked nor asked about.
Result<FileLock> try_lock(const std::string& path, Missing missing);

}  // namespace jaxprof
