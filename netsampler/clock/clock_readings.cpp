#include "netsampler/clock/clock_readings.h"

#include <algorithm>
#include <utility>

#include "agent/base/clocks.h"

namespace jaxprof::netsampler {
namespace {

constexpr int kAttempts = 6;
constexpr std::int64_t kToleranceNs = 1000;
constexpr std::int64_t kNsPerToleratedNs = 1000;  // 1000 ppm

spool::ClockReading read_once(const RawClock& raw) {
  const std::int64_t raw_before = raw();
  const std::int64_t monotonic_before = clock_ns(CLOCK_MONOTONIC);
  spool::ClockReading reading;
  reading.wall_ns = clock_ns(CLOCK_REALTIME);
  const std::int64_t monotonic_after = clock_ns(CLOCK_MONOTONIC);
  const std::int64_t took_ns = raw() - raw_before;
  reading.raw_ns = raw_before + took_ns / 2;
  reading.monotonic_ns = monotonic_before + (monotonic_after - monotonic_before) / 2;
  reading.bracket_ns = static_cast<std::uint32_t>(std::clamp<std::int64_t>(took_ns, 0, UINT32_MAX));
  return reading;
}

std::int64_t distance(std::int64_t a, std::int64_t b) {
  return a > b ? a - b : b - a;
}

}  // namespace

spool::ClockReading read_clocks(const RawClock& raw) {
  spool::ClockReading best = read_once(raw);
  for (int attempt = 1; attempt < kAttempts; ++attempt) {
    const spool::ClockReading reading = read_once(raw);
    if (reading.bracket_ns < best.bracket_ns) best = reading;
  }
  return best;
}

bool StepDetector::is_step(const spool::ClockReading& reading) {
  const auto before = std::exchange(before_, reading);
  if (!before) return false;
  const std::int64_t passed_ns = distance(reading.raw_ns, before->raw_ns);
  const std::int64_t open_ns = std::int64_t{before->bracket_ns} + reading.bracket_ns;
  const std::int64_t moved_ns = distance(reading.wall_ns - reading.raw_ns, before->wall_ns - before->raw_ns);
  return moved_ns > kToleranceNs + passed_ns / kNsPerToleratedNs + open_ns;
}

}  // namespace jaxprof::netsampler
