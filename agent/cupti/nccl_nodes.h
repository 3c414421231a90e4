// Nodes of CUDA graphs that NCCL's launches made, by CUPTI's number. A captured job has hundreds of thousands of nodes,
// and instantiating a graph clones each of them; but only those of NCCL are ever looked for, and clones of these. So
// this set is what decides which nodes are registered: the log of registrations has room for so many, and other things
// to hold. Nodes come from callbacks on the job's threads; nothing is ever removed, since numbers are not used again.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::cupti {

class NcclNodes {
 public:
  static constexpr std::uint32_t kMaxNodes = 3U << 15;  // 4.5 MiB of registrations

  // False if there are kMaxNodes already. Any thread; lock-free.
  bool add(std::uint64_t node) noexcept {
    for (std::uint32_t at = slot_of(node);; ++at) {
      std::atomic<std::uint64_t>& slot = slots_[at % kSlots];
      std::uint64_t held = slot.load(std::memory_order_relaxed);
      if (held == node) return true;
      if (held != kFree) continue;
      if (count_.load(std::memory_order_relaxed) >= kMaxNodes) return false;
      if (slot.compare_exchange_strong(held, node, std::memory_order_relaxed)) {
        count_.fetch_add(1, std::memory_order_relaxed);
        return true;
      }
      if (held == node) return true;
    }
  }

  // A node that was added before on the same thread, or handed over by one that added it. Any thread; lock-free.
  bool has(std::uint64_t node) const noexcept {
    for (std::uint32_t at = slot_of(node);; ++at) {
      const std::uint64_t held = slots_[at % kSlots].load(std::memory_order_relaxed);
      if (held == node) return node != kFree;
      if (held == kFree) return false;
    }
  }

 private:
  static constexpr std::uint64_t kFree = 0;          // no node has this number
  static constexpr std::uint32_t kSlots = 1U << 17;  // a quarter stays free, whatever threads add at once
  static std::uint32_t slot_of(std::uint64_t node) noexcept {
    return static_cast<std::uint32_t>((node * 0x9e3779b97f4a7c15U) >> 47);
  }

  std::atomic<std::uint64_t> slots_[kSlots] = {};
  std::atomic<std::uint32_t> count_{0};
};

}  // namespace jaxprof::cupti
