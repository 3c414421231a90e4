// Which launches are still without a record of the work that they started. When a window ends, its last kernels may
// still run: this is how one knows that all has come. A call and its work carry the same correlation; the ledger keeps
// the latest of them in a ring, so that launches which never yield a record fall out by themselves, or are forgotten
// when nobody waits for them any more. The drain thread writes; any thread may read the count.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::cupti {

class LaunchLedger {
 public:
  // A call that starts work has been read; its work has been read.
  void add_call(std::uint32_t correlation) noexcept { note(correlation, kCall); }
  void add_work(std::uint32_t correlation) noexcept { note(correlation, kWork); }

  // Was the call read, of those that are remembered?
  bool has_call(std::uint32_t correlation) const noexcept {
    const Slot& slot = slots_[correlation % kSlots];
    return correlation != 0 && slot.correlation == correlation && (slot.seen & kCall) != 0;
  }
  // Launches that are open now are waited for no longer: their number has been taken. Any thread; forget_if_asked()
  // does it, before calls that came later are read.
  void ask_to_forget() noexcept { asks_.fetch_add(1, std::memory_order_acq_rel); }
  void forget_if_asked() noexcept {
    const std::uint32_t asks = asks_.load(std::memory_order_acquire);
    if (asks == asks_done_) [[likely]]
      return;
    asks_done_ = asks;
    for (Slot& slot : slots_) {
      if (slot.seen == kCall) slot.seen = kCall | kForgotten;
    }
    open_.store(0, std::memory_order_release);
  }

  // Calls whose work has not been seen.
  std::uint32_t open_launches() const noexcept { return open_.load(std::memory_order_acquire); }

 private:
  static constexpr std::uint32_t kSlots = 1U << 13;
  enum : std::uint8_t { kCall = 1, kWork = 2, kForgotten = 4 };
  struct Slot {
    std::uint32_t correlation;
    std::uint8_t seen;
  };

  void note(std::uint32_t correlation, std::uint8_t what) noexcept {
    if (correlation == 0) return;
    Slot& slot = slots_[correlation % kSlots];
    // What is late for its slot is not remembered: it must not take the place of what is waited for. Numbers wrap.
    if (slot.seen != 0 && static_cast<std::int32_t>(slot.correlation - correlation) > 0) return;
    const std::uint8_t before = slot.correlation == correlation ? slot.seen : 0;
    const auto after = static_cast<std::uint8_t>(before | what);
    const int change = (after == kCall ? 1 : 0) - (slot.seen == kCall ? 1 : 0);
    slot = {correlation, after};
    if (change != 0)
      open_.store(open_.load(std::memory_order_relaxed) + static_cast<std::uint32_t>(change),
                  std::memory_order_release);
  }

  Slot slots_[kSlots] = {};
  std::atomic<std::uint32_t> open_{0};
  std::atomic<std::uint32_t> asks_{0};
  std::uint32_t asks_done_ = 0;
};

}  // namespace jaxprof::cupti
