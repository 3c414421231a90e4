#include "netsampler/node/node_clock.h"

#include <ctime>

#include "agent/base/clocks.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

std::uint64_t read(clockid_t clock) {
  return static_cast<std::uint64_t>(clock_ns(clock));
}

}  // namespace

std::uint64_t SystemClock::now_ns() {
  return read(CLOCK_MONOTONIC);
}

std::uint64_t SystemClock::raw_ns() {
  return read(CLOCK_MONOTONIC_RAW);
}

std::uint64_t SystemClock::cpu_ns() {
  return read(CLOCK_PROCESS_CPUTIME_ID);
}

void SystemClock::sleep_until(std::uint64_t deadline_ns) {
  const timespec until{static_cast<time_t>(deadline_ns / kSecond), static_cast<long>(deadline_ns % kSecond)};
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
}

}  // namespace jaxprof::netsampler
