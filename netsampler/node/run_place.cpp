#include "netsampler/node/run_place.h"

#include <utility>

#include "agent/contract/run_layout.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kLongestStartNs = 30'000'000'000;  // from the observer's start to a task's registration
constexpr int kAttempts = 10;

// The last task of the run may be taking the folder away just now, and the file with it.
Result<FileLock> lock_folder(const std::string& folder) {
  Result<FileLock> lock = FileLock{};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    lock = try_lock(run_layout::node_observer_path(folder), Missing::kCreate);
    if (!lock || lock->is_held() || lock->holder >= 0) break;
  }
  return lock;
}

}  // namespace

Result<std::optional<RunPlace>> RunPlace::take(const std::string& node_folder) {
  auto lock = lock_folder(node_folder);
  if (!lock) return tl::unexpected(std::move(lock.error()));
  if (!lock->is_held()) return std::optional<RunPlace>();
  RunPlace place(node_folder, std::move(*lock));
  place.has_seen_task_ = place.tasks_.is_any_alive();  // the one that started this observer may be gone in a moment
  return std::optional<RunPlace>(std::move(place));
}

bool RunPlace::is_over(std::uint64_t now_ns) {
  if (!first_look_ns_) first_look_ns_ = now_ns;
  if (tasks_.is_any_alive()) {
    has_seen_task_ = true;
    return false;
  }
  if (!has_seen_task_ && now_ns - *first_look_ns_ < kLongestStartNs) return false;
  lock_.fd.reset();
  if (!tasks_.is_any_alive()) return true;
  // One came in the moment between, and found the place taken.
  auto lock = lock_folder(folder_);
  if (!lock || !lock->is_held()) return true;
  lock_ = std::move(*lock);
  return false;
}

void RunPlace::leave() {
  lock_.fd.reset();
  remove_deserted_node_folder(folder_);
}

}  // namespace jaxprof::netsampler
