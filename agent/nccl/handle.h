// What we give NCCL as event handles and contexts: numbers, never pointers. NCCL hands handles back as parents, also
// stale ones (CUDA graph replays), ones of events it never told us the end of, and with PXN ones of another process. A
// number with the process's nonce in it can be recognised without being followed.
#pragma once

#include <atomic>
#include <cstdint>

namespace jaxprof::nccl {

inline constexpr unsigned kNumberBits = 52;  // thread << kCountBits | count
inline constexpr unsigned kCountBits = 36;
inline constexpr std::uint64_t kNumberMask = (std::uint64_t{1} << kNumberBits) - 1;
// Threads are counted from 1 as they come, also those that have ended, and not all of their numbers fit: from this one
// on their events are numbered together, as those of one thread.
inline constexpr std::uint32_t kSharedThread = (1U << (kNumberBits - kCountBits)) - 1;

// The number of the next event of thread `thread`, whose own count is `own_count`; `shared_count` counts for
// kSharedThread. Unique in the process, never 0 nor kNumberMask. Any thread.
inline std::uint64_t next_number(std::uint32_t thread, std::uint64_t* own_count,
                                 std::atomic<std::uint64_t>* shared_count) noexcept {
  if (thread < kSharedThread) [[likely]]
    return static_cast<std::uint64_t>(thread) << kCountBits | ++*own_count;
  const std::uint64_t count = shared_count->fetch_add(1, std::memory_order_relaxed) + 1;
  return static_cast<std::uint64_t>(kSharedThread) << kCountBits | count;
}

// `nonce` is cut to the 12 bits above the number; the result is never null, because numbers start at 1.
inline void* make_handle(std::uint16_t nonce, std::uint64_t number) noexcept {
  return reinterpret_cast<void*>(static_cast<std::uint64_t>(nonce) << kNumberBits | (number & kNumberMask));
}

// The number in `handle`, or 0 if it is null or not one of this process's.
inline std::uint64_t handle_number(std::uint16_t nonce, const void* handle) noexcept {
  const auto value = reinterpret_cast<std::uint64_t>(handle);
  const std::uint64_t own = static_cast<std::uint64_t>(nonce) << kNumberBits;
  return (value & ~kNumberMask) == (own & ~kNumberMask) ? value & kNumberMask : 0;
}

}  // namespace jaxprof::nccl
