// How full a file system is, and how much of it stays the job's. Checkpoints and logs of the job may go to the same
// disk as our spools: recording stops while there is still room for them. One rule for the wrapper, which looks before
// the job starts, and for the agent, which looks while it records. Agent-safe.
#pragma once

#include <sys/vfs.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace jaxprof {

// Bytes of one file system. Free are those that a user without privileges can still write.
struct DiskRoom {
  std::uint64_t free_bytes = 0;
  std::uint64_t size_bytes = 0;

  // What recording leaves alone: the smaller one of 1 GiB and 5 % of the size.
  std::uint64_t reserve_bytes() const noexcept { return std::min(std::uint64_t{1} << 30, size_bytes / 20); }
  bool is_at_reserve() const noexcept { return free_bytes < reserve_bytes(); }
};

namespace detail {
inline std::optional<DiskRoom> disk_room(int result, const struct statfs& status) noexcept {
  // A file system that does not tell its size has no limit that could be kept.
  if (result != 0 || status.f_blocks == 0) return std::nullopt;
  const auto unit = static_cast<std::uint64_t>(status.f_frsize != 0 ? status.f_frsize : status.f_bsize);
  return DiskRoom{status.f_bavail * unit, status.f_blocks * unit};
}
}  // namespace detail

// Of the file system that an open file, or `path`, is on; nothing if it does not tell.
inline std::optional<DiskRoom> disk_room_of(int fd) noexcept {
  struct statfs status {};
  return detail::disk_room(fstatfs(fd, &status), status);
}
inline std::optional<DiskRoom> disk_room_of(const char* path) noexcept {
  struct statfs status {};
  return detail::disk_room(statfs(path, &status), status);
}

}  // namespace jaxprof
