#include "merge/match/handle_index.h"

#include <algorithm>

namespace jaxprof::match {
namespace {

constexpr unsigned kCountBits = 36;
// Processes have fewer threads that call NCCL; what claims a higher number is found by hash.
constexpr std::uint64_t kMostThreads = 1024;

}  // namespace

void HandleIndex::set(std::uint64_t handle, std::size_t place) {
  const std::uint64_t thread = handle >> kCountBits;
  if (thread < kMostThreads) {
    if (thread >= by_thread_.size()) by_thread_.resize(thread + 1);
    Entries& entries = by_thread_[thread];
    if (entries.empty() || entries.back().handle < handle) {
      entries.push_back({handle, place});
      return;
    }
    if (const Entry* known = find_in(entries, handle); known != nullptr) {
      entries[static_cast<std::size_t>(known - entries.data())].place = place;
      return;
    }
  }
  others_[handle] = place;
}

std::size_t HandleIndex::find(std::uint64_t handle) const {
  const std::uint64_t thread = handle >> kCountBits;
  if (thread < by_thread_.size()) {
    if (const Entry* known = find_in(by_thread_[thread], handle); known != nullptr) return known->place;
  }
  if (others_.empty()) return kNone;
  const auto other = others_.find(handle);
  return other == others_.end() ? kNone : other->second;
}

// Each entry's handle is at least as far from the first one's as its place is: it lies where the difference says, or
// before that by what was lost.
const HandleIndex::Entry* HandleIndex::find_in(const Entries& entries, std::uint64_t handle) {
  if (entries.empty() || handle < entries.front().handle || handle > entries.back().handle) return nullptr;
  const std::uint64_t furthest = std::min<std::uint64_t>(handle - entries.front().handle, entries.size() - 1);
  const Entry* at = entries.data() + furthest;
  if (at->handle != handle) {
    at = std::lower_bound(entries.data(), at, handle,
                          [](const Entry& entry, std::uint64_t value) { return entry.handle < value; });
  }
  return at->handle == handle ? at : nullptr;
}

}  // namespace jaxprof::match
