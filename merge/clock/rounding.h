// Doubles of nanoseconds back to integers. What comes from a damaged spool may be any number; here it is held within
// limits that can be added and subtracted once more. Differences of clocks are taken as integers before they become
// doubles, since a double holds no nanoseconds beyond 104 days.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace jaxprof::clock {

inline constexpr std::int64_t kFarthestNs = std::int64_t{1} << 60;  // 36 years

inline std::int64_t round_ns(double ns) {
  constexpr auto kFarthest = static_cast<double>(kFarthestNs);
  if (std::isnan(ns)) return 0;
  const double held_ns = std::clamp(ns, -kFarthest, kFarthest);
  return static_cast<std::int64_t>(held_ns + (held_ns < 0 ? -0.5 : 0.5));  // a call of llround() costs more than all
}

// Of a clock that counts from the start of its node.
inline bool is_plausible_raw(std::int64_t raw_ns) {
  return raw_ns >= 0 && raw_ns <= kFarthestNs;
}

}  // namespace jaxprof::clock
