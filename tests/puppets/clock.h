// The two clocks the puppet stamps its own log with: CLOCK_MONOTONIC_RAW, which nothing slews and which a profiler's
// stamps are compared with, and CLOCK_REALTIME, which is comparable between nodes as far as the nodes agree on time.
#pragma once

#include <time.h>

#include <cstdint>

namespace jaxprof::puppets {

inline std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

// CLOCK_MONOTONIC_RAW, nanoseconds.
inline std::int64_t raw_ns() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

// CLOCK_REALTIME, nanoseconds since 1970.
inline std::int64_t realtime_ns() {
  return clock_ns(CLOCK_REALTIME);
}

// Sleeps until at least `duration_ns` of CLOCK_MONOTONIC_RAW have passed; returns how long it really was.
inline std::int64_t sleep_ns(std::int64_t duration_ns) {
  const std::int64_t begin = raw_ns();
  std::int64_t passed = 0;
  while (passed < duration_ns) {
    const std::int64_t left = duration_ns - passed;
    const timespec request{left / 1'000'000'000, left % 1'000'000'000};
    nanosleep(&request, nullptr);
    passed = raw_ns() - begin;
  }
  return passed;
}

}  // namespace jaxprof::puppets
