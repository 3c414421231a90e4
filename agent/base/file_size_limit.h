// Growing a file beyond RLIMIT_FSIZE does not only fail: the kernel sends SIGXFSZ, which kills the process that does
// it. Inside a user's process, or in front of it, that must never be our write. Agent-safe.
#pragma once

#include <errno.h>
#include <sys/resource.h>

#include <cstdint>

namespace jaxprof {

// True if a file of `bytes` is within this process's limit; else false, with errno EFBIG.
inline bool is_file_size_allowed(std::uint64_t bytes) noexcept {
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

}  // namespace jaxprof
