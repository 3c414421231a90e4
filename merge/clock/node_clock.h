// Puts the stamps of a node's observer on the axis of the processes of its node. The observer stamps with
// CLOCK_MONOTONIC_RAW and takes anchors of its own. It began before the processes, so it may have seen the wall clock
// being set when they had not; the processes keep the scale from before the steps that they saw. So the observer's
// axis is shifted to agree with theirs where both are known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "agent/spool/block.h"
#include "merge/clock/wall_clock.h"

namespace jaxprof::clock {

// One instant on both scales.
struct ClockReference {
  std::int64_t monotonic_raw_ns = 0;
  std::int64_t axis_ns = 0;  // as WallClockModel::realtime_ns of the processes
};

class NodeClock {
 public:
  // `anchors` of all observers of one node, in any order; without a reference their own wall clock is the axis.
  static NodeClock fit(std::span<const spool::AnchorRecord> anchors, const std::optional<ClockReference>& reference);

  bool is_valid() const { return wall_.is_valid(); }
  // The axis at the instant when CLOCK_MONOTONIC_RAW read `raw_ns`; as WallClockModel::realtime_ns, within the same
  // limits. Only if is_valid().
  std::int64_t realtime_ns(std::uint64_t raw_ns) const;

 private:
  WallClockModel wall_;
  std::int64_t shift_ns_ = 0;
};

}  // namespace jaxprof::clock
