// Doubles of nanoseconds back to integers. Of stamps that contradict each other by years any number may come; here it
// is held within limits that can be added and subtracted once more. Differences of clocks are taken as integers before
// they become doubles, since a double holds no nanoseconds beyond 104 days.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "merge/clock/plausible.h"

namespace jaxprof::clock {

inline constexpr std::int64_t kFarthestNs = kLastRawNs;  // either way

inline std::int64_t round_ns(double ns) {
  constexpr auto kFarthest = static_cast<double>(kFarthestNs);
  if (std::isnan(ns)) return 0;
  const double held_ns = std::clamp(ns, -kFarthest, kFarthest);
  return static_cast<std::int64_t>(held_ns + (held_ns < 0 ? -0.5 : 0.5));  // a call of llround() costs more than all
}

// Sums of such numbers, held likewise.
inline std::int64_t hold_ns(std::int64_t ns) {
  return std::clamp(ns, -kFarthestNs, kFarthestNs);
}
inline bool is_far(std::int64_t ns) {
  return ns != hold_ns(ns);
}

}  // namespace jaxprof::clock
