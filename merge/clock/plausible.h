// What the clocks of a machine can show at all. A spool may be damaged or made up, and its stamps are then any 64 bits.
// Readings that no clock shows are left out, and counted, where a spool is read (merge/rundir): whatever comes after
// may add and subtract a few of these times without asking whether the result fits into 64 bits.
#pragma once

#include <cstdint>

#include "agent/spool/block.h"
#include "agent/spool/clock_codec.h"

namespace jaxprof::clock {

inline constexpr std::int64_t kLastRawNs = std::int64_t{1} << 60;         // a node that is up for 36 years
inline constexpr std::int64_t kLastWallNs = (std::int64_t{1} << 62) - 1;  // in the year 2116

// Of a clock that counts from the start of its node.
inline bool is_plausible_raw(std::int64_t raw_ns) {
  return raw_ns >= 0 && raw_ns <= kLastRawNs;
}

// Of CLOCK_REALTIME, and of the run's axis.
inline bool is_plausible_wall(std::int64_t wall_ns) {
  return wall_ns >= 0 && wall_ns <= kLastWallNs;
}

// CLOCK_MONOTONIC is only passed on.
inline bool is_plausible(const spool::AnchorRecord& anchor) {
  return is_plausible_raw(anchor.monotonic_raw_ns) && is_plausible_wall(anchor.realtime_ns);
}
inline bool is_plausible(const spool::ClockReading& reading) {
  return is_plausible_raw(reading.raw_ns) && is_plausible_wall(reading.wall_ns);
}

}  // namespace jaxprof::clock
