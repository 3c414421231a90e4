// The clocks of a node, and the anchors that tie them together. An event is stamped with the cheapest clock that is
// safe (the CPU's time stamp counter where the kernel itself keeps time with it, else CLOCK_MONOTONIC_RAW); anchors,
// taken all through the run, say what the other clocks read at the same instant, so that the merge can move a raw
// stamp to any of them. Agent-safe; every function may be called from any thread.
#pragma once

#include <cstdint>
#include <ctime>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace jaxprof {

// Which clock a raw stamp was read from. The values are stored in spools: never renumber.
enum class ClockId : std::uint8_t {
  kNone = 0,
  kTsc = 1,           // ticks of rdtsc, x86-64
  kCntvct = 2,        // ticks of CNTVCT_EL0, aarch64
  kMonotonicRaw = 3,  // ns of CLOCK_MONOTONIC_RAW
  kRealtime = 4,      // ns of CLOCK_REALTIME
  kCupti = 5,         // ns of cuptiGetTimestamp
};

// All clocks of the node read as one: `counter` between the two halves of a bracket of that many counter ticks.
struct ClockAnchor {
  std::uint64_t counter = 0;  // ticks of the event clock (ns when that is MONOTONIC_RAW)
  std::int64_t monotonic_raw_ns = 0;
  std::int64_t realtime_ns = 0;
  std::int64_t monotonic_ns = 0;
  std::uint64_t bracket = 0;  // ticks between the two readings of the event clock around the others
};

inline std::int64_t clock_ns(clockid_t clock) noexcept {
  timespec t;
  clock_gettime(clock, &t);
  return static_cast<std::int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

// The clock that events of this process shall be stamped with: the counter if it runs at a constant rate in every
// power state and the kernel trusts it as its own clock source, else CLOCK_MONOTONIC_RAW. Reads one file in /sys.
ClockId choose_event_clock() noexcept;

// Reads `clock`, which choose_event_clock returned.
inline std::uint64_t read_event_clock(ClockId clock) noexcept {
#if defined(__x86_64__)
  if (clock == ClockId::kTsc) return __rdtsc();
#elif defined(__aarch64__)
  if (clock == ClockId::kCntvct) {
    std::uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
  }
#endif
  return static_cast<std::uint64_t>(clock_ns(CLOCK_MONOTONIC_RAW));
}

// Reads all clocks `attempts` times and keeps the reading with the narrowest bracket.
ClockAnchor take_anchor(ClockId event_clock, int attempts = 8) noexcept;

}  // namespace jaxprof
