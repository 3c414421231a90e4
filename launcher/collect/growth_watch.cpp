#include "launcher/collect/growth_watch.h"

#include <algorithm>
#include <chrono>
#include <thread>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {
GrowthWatch::GrowthWatch(const SessionPage& page, std::int64_t watch_ns)
    : page_(page), end_ns_(clock_ns(CLOCK_MONOTONIC) + watch_ns) {
  const std::uint32_t claimed = std::min(page.claimed_slots.load(std::memory_order_acquire), kMaxProcessSlots);
  for (std::uint32_t i = 0; i < claimed; ++i) {
    bytes_.push_back(page.slots[i].spool_bytes.load(std::memory_order_acquire));
  }
}

bool GrowthWatch::has_grown(const ProcessSlot& slot) const {
  const auto index = static_cast<std::size_t>(&slot - page_.slots);
  if (index >= bytes_.size()) return true;  // it has come since
  const std::int64_t left_ns = end_ns_ - clock_ns(CLOCK_MONOTONIC);
  if (left_ns > 0) std::this_thread::sleep_for(std::chrono::nanoseconds(left_ns));
  return slot.spool_bytes.load(std::memory_order_acquire) != bytes_[index];
}

}  // namespace jaxprof::launcher
