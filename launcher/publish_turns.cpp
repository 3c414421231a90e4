#include "launcher/publish_turns.h"

#include <fcntl.h>
#include <sys/file.h>

#include <algorithm>

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kBusyWaitNs = 10'000'000;  // another has the turn
constexpr std::int64_t kFarNs = 60'000'000'000;   // no piece takes so long: the file is of another boot or clock

}  // namespace

PublishTurns::PublishTurns(const std::string& path, std::int64_t bytes_per_s)
    : file_(open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)), bytes_per_s_(bytes_per_s) {}

std::int64_t PublishTurns::begin(std::int64_t now_ns) {
  if (file_ && flock(file_.get(), LOCK_EX | LOCK_NB) != 0) return kBusyWaitNs;
  const std::int64_t wait_ns = read_next_ns() - now_ns;
  if (wait_ns <= 0 || wait_ns > kFarNs) {
    began_ns_ = now_ns;
    return 0;
  }
  if (file_) flock(file_.get(), LOCK_UN);
  return std::min(wait_ns, kMostWaitNs);
}

void PublishTurns::end(std::uint64_t copied_bytes) {
  const double piece_ns = static_cast<double>(copied_bytes) * 1e9 / static_cast<double>(bytes_per_s_);
  next_ns_ = began_ns_ + static_cast<std::int64_t>(std::min(piece_ns, static_cast<double>(kFarNs)));
  if (!file_) return;
  // A write that fails leaves the turn to the next one at once.
  if (pwrite(file_.get(), &next_ns_, sizeof next_ns_, 0) < 0) next_ns_ = 0;
  flock(file_.get(), LOCK_UN);
}

std::int64_t PublishTurns::read_next_ns() const {
  if (!file_) return next_ns_;
  std::int64_t next_ns = 0;
  return pread(file_.get(), &next_ns, sizeof next_ns, 0) == sizeof next_ns ? next_ns : 0;
}

}  // namespace jaxprof::launcher
