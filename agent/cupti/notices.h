// What is said of a process's GPUs comes from several threads: who opens the window, the flusher, a callback that
// tells of CUPTI's end, an exit that waits for none of them. The page and the spool want one writer at a time, and none
// of these may wait for another. So a notice is left in a free place, and whoever is publishing already publishes that
// too, in the order in which notices were left. Nothing here calls CUPTI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "agent/contract/session_page.h"

namespace jaxprof::cupti {

inline constexpr std::size_t kNoteBytes = 768;

class Notices {
 public:
  using Publish = void (*)(GpuMode mode, const char* note);

  // Has `publish` called with these, here or by the thread that is at it; never by two threads at once. Notes are cut
  // to kNoteBytes. False if kPlaces wait already, which takes a publisher that does not come on. Any thread, in a
  // callback or a signal handler too.
  bool post(GpuMode mode, const char* note, Publish publish) noexcept {
    Notice* notice = claim();
    if (notice == nullptr) return false;
    notice->mode = mode;
    const std::size_t length = strnlen(note, kNoteBytes - 1);
    std::memcpy(notice->note, note, length);
    notice->note[length] = '\0';
    notice->order = orders_.fetch_add(1);
    notice->state.store(kLeft);
    // Who was publishing has either seen it, or is done by now.
    while (is_any_left() && !is_publishing_.exchange(true)) {
      while (Notice* next = oldest()) {
        publish(next->mode, next->note);
        next->state.store(kFree);
      }
      is_publishing_.store(false);
    }
    return true;
  }

 private:
  static constexpr std::size_t kPlaces = 8;
  enum : std::uint32_t { kFree, kClaimed, kLeft };
  struct Notice {
    std::atomic<std::uint32_t> state;
    GpuMode mode;
    std::uint64_t order;
    char note[kNoteBytes];
  };

  Notice* claim() noexcept {
    for (Notice& notice : notices_) {
      std::uint32_t expected = kFree;
      if (notice.state.compare_exchange_strong(expected, kClaimed)) return &notice;
    }
    return nullptr;
  }
  bool is_any_left() const noexcept {
    for (const Notice& notice : notices_) {
      if (notice.state.load() == kLeft) return true;
    }
    return false;
  }
  // For who is publishing: nobody else frees a place that something was left in. One look may pass a place by before a
  // thread leaves a notice there, and still see the thread's next one. What was left before a notice that was seen is
  // seen by another look.
  Notice* oldest() noexcept {
    Notice* found = nullptr;
    while (Notice* older = older_than(found)) found = older;
    return found;
  }
  // The oldest that one look sees, if it is older than `than`. Any, if that is null.
  Notice* older_than(const Notice* than) noexcept {
    Notice* found = nullptr;
    std::uint64_t order = than != nullptr ? than->order : UINT64_MAX;
    for (Notice& notice : notices_) {
      if (notice.state.load() != kLeft || notice.order >= order) continue;
      found = &notice;
      order = notice.order;
    }
    return found;
  }

  Notice notices_[kPlaces] = {};
  std::atomic<std::uint64_t> orders_{0};
  std::atomic<bool> is_publishing_{false};
};

}  // namespace jaxprof::cupti
