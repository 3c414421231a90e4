#include "merge/program/observer_end.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "agent/spool/block.h"

namespace jaxprof::merge {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kLongestNs = 2 * kSecond;
// Between two blocks of an observer lies a second. The clocks of storage and this node may differ a little.
constexpr std::int64_t kRecentNs = 4 * kSecond;
constexpr std::size_t kFooterBytes = 4096;  // more than a footer has
constexpr auto kPause = std::chrono::milliseconds(50);

// The footer is the last block, so that its length leads to the end of the file.
bool ends_with_footer(int fd, off_t size) {
  std::array<char, kFooterBytes> tail{};
  const off_t begin = std::max<off_t>(size - static_cast<off_t>(tail.size()), 0);
  const ssize_t length = pread(fd, tail.data(), tail.size(), begin);
  for (ssize_t at = 0; at + static_cast<ssize_t>(sizeof(spool::BlockHeader)) <= length; ++at) {
    spool::BlockHeader header{};
    std::memcpy(&header, tail.data() + at, sizeof header);
    if (header.magic != spool::kBlockMagic || header.kind != static_cast<std::uint16_t>(spool::BlockKind::kFooter)) {
      continue;
    }
    if (at + static_cast<ssize_t>(sizeof header + header.payload_bytes) == length) return true;
  }
  return false;
}

bool is_being_written(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return false;
  const std::int64_t written_ns = status.st_mtim.tv_sec * kSecond + status.st_mtim.tv_nsec;
  const bool is_recent = std::llabs(clock_ns(CLOCK_REALTIME) - written_ns) < kRecentNs;
  return is_recent && !ends_with_footer(fd.get(), status.st_size);
}

}  // namespace

void wait_for_observers(const std::vector<std::string>& node_spools) {
  std::vector<std::string> open_ones = node_spools;
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kLongestNs;
  for (;;) {
    std::erase_if(open_ones, [](const std::string& path) { return !is_being_written(path); });
    if (open_ones.empty() || clock_ns(CLOCK_MONOTONIC) >= end_ns) return;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace jaxprof::merge
