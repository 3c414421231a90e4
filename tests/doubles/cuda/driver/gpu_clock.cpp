#include "tests/doubles/cuda/driver/gpu_clock.h"

#include "tests/doubles/cuda/driver/driver_switches.h"

namespace jaxprof::fake_cuda {
namespace {

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

__extension__ typedef __int128 Wide;

// CLOCK_REALTIME - CLOCK_MONOTONIC_RAW: of five bracketed readings, the one with the narrowest bracket.
std::int64_t realtime_minus_raw_ns() {
  std::int64_t best = 0;
  std::int64_t narrowest = INT64_MAX;
  for (int i = 0; i < 5; ++i) {
    const std::int64_t before = clock_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t real = clock_ns(CLOCK_REALTIME);
    const std::int64_t width = clock_ns(CLOCK_MONOTONIC_RAW) - before;
    if (width < narrowest) {
      narrowest = width;
      best = real - (before + width / 2);
    }
  }
  return best;
}

// The same, measured anew every 10 ms: a slew of 500 ppm moves it by 5 ns in between.
std::int64_t recent_difference_ns() {
  static std::atomic<std::int64_t> difference_ns{0};
  static std::atomic<std::int64_t> measured_raw_ns{0};
  const std::int64_t now = clock_ns(CLOCK_MONOTONIC_RAW);
  if (const std::int64_t last = measured_raw_ns.load(std::memory_order_acquire); last == 0 || now - last > 10'000'000) {
    difference_ns.store(realtime_minus_raw_ns(), std::memory_order_relaxed);
    measured_raw_ns.store(now, std::memory_order_release);
  }
  return difference_ns.load(std::memory_order_relaxed);
}

}  // namespace

std::int64_t raw_now_ns() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

GpuClock::GpuClock() : origin_raw_ns_(raw_now_ns()) {}

std::int64_t GpuClock::of_raw(std::int64_t raw_ns) const {
  const auto& setting = switches();
  const std::int64_t age_ns = raw_ns - origin_raw_ns_;
  const auto drift_ns =
      static_cast<std::int64_t>(static_cast<Wide>(age_ns) * setting[Switch::kClockDriftPpb] / 1'000'000'000);
  std::int64_t wrong_ns = setting[Switch::kClockOffsetNs] + drift_ns + stepped_ns_.load(std::memory_order_relaxed);
  if (age_ns >= setting[Switch::kClockStepAtMs] * 1'000'000) {
    wrong_ns += setting[Switch::kClockStepNs];
  }
  return raw_ns + recent_difference_ns() + wrong_ns;
}

std::int64_t GpuClock::raw_of_realtime(std::int64_t realtime_ns) {
  return realtime_ns - recent_difference_ns();
}

}  // namespace jaxprof::fake_cuda
