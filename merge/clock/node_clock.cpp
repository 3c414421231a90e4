#include "merge/clock/node_clock.h"

#include <algorithm>

namespace jaxprof::clock {

NodeClock NodeClock::fit(std::span<const spool::AnchorRecord> anchors, const std::optional<ClockReference>& reference) {
  NodeClock clock;
  clock.wall_ = AxisClock::fit(anchors);
  if (!clock.is_valid() || !reference || reference->monotonic_raw_ns < 0) return clock;
  // Both are within 0 and kLastNs, so the difference fits.
  clock.shift_ns_ = reference->axis_ns - clock.wall_.axis_ns(static_cast<std::uint64_t>(reference->monotonic_raw_ns));
  return clock;
}

NodeClock NodeClock::fit(std::span<const spool::AnchorRecord> anchors,
                         const std::function<std::int64_t(std::int64_t raw_ns)>& axis_of_raw) {
  NodeClock clock;
  clock.wall_ = AxisClock::fit(anchors, axis_of_raw);
  return clock;
}

std::int64_t NodeClock::axis_ns(std::uint64_t raw_ns) const {
  return std::clamp(wall_.axis_ns(raw_ns) + shift_ns_, std::int64_t{0}, AxisClock::kLastNs);
}

}  // namespace jaxprof::clock
