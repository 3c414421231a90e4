// Is a descriptor, or a path, still the file that it was? A program may close descriptors that it does not know, and
// the next file it opens gets the same number: whoever keeps a descriptor inside somebody else's process asks before
// each use. Agent-safe.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdint>

namespace jaxprof {

struct FileIdentity {
  std::uint64_t inode = 0;
  std::uint32_t device_major = 0;
  std::uint32_t device_minor = 0;

  bool operator==(const FileIdentity&) const = default;

  // Of the open file `fd`; all zero, which no file has, if it is not open.
  static FileIdentity of(int fd) noexcept {
    struct statx status {};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_INO, &status) != 0) return {};
    return {status.stx_ino, status.stx_dev_major, status.stx_dev_minor};
  }
};

}  // namespace jaxprof
