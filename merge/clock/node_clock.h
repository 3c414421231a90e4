// Puts the stamps of a node's observer on the axis of the processes of its node. The observer stamps with
// CLOCK_MONOTONIC_RAW and takes anchors of its own. It began before the processes, so it may have seen the wall clock
// being set when they had not; the processes keep the scale from before the steps that they saw. So the observer's
// axis is shifted to agree with theirs where both are known. On a node whose clock was solved there is nothing to
// agree on: the model is of the observer's own clock.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "agent/spool/block.h"
#include "merge/clock/axis_clock.h"

namespace jaxprof::clock {

// One instant on both scales.
struct ClockReference {
  std::int64_t monotonic_raw_ns = 0;
  std::int64_t axis_ns = 0;  // as AxisClock::realtime_ns of the processes
};

class NodeClock {
 public:
  // `anchors` of all observers of one node, in any order; without a reference their own wall clock is the axis.
  static NodeClock fit(std::span<const spool::AnchorRecord> anchors, const std::optional<ClockReference>& reference);

  // Of a node with a model: `axis_of_raw` is of the observer's CLOCK_MONOTONIC_RAW.
  static NodeClock fit(std::span<const spool::AnchorRecord> anchors,
                       const std::function<std::int64_t(std::int64_t raw_ns)>& axis_of_raw);

  bool is_valid() const { return wall_.is_valid(); }
  // The axis at the instant when CLOCK_MONOTONIC_RAW read `raw_ns`; as AxisClock::realtime_ns, within the same
  // limits. Only if is_valid().
  std::int64_t axis_ns(std::uint64_t raw_ns) const;

 private:
  AxisClock wall_;
  std::int64_t shift_ns_ = 0;
};

}  // namespace jaxprof::clock
