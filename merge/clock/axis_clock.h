// Puts the raw stamps of one counter on the run's time axis, by the anchors that its processes took. Where nodes were
// compared with each other, the way leads over the node's CLOCK_MONOTONIC_RAW and the model that was solved of it
// (clock_solution.h). Else the axis is the node's wall clock, CLOCK_REALTIME, the alignment of last resort: two nodes'
// wall clocks agree as well as their administrator keeps them, which nothing in a trace can tell.
// The wall clock may be set while a job runs. Such a step must not tear the time axis of a node: it is found by
// comparing with CLOCK_MONOTONIC_RAW, taken out, and reported.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "agent/spool/block.h"
#include "merge/clock/plausible.h"

namespace jaxprof::clock {

struct WallClockStep {
  std::int64_t realtime_ns;  // CLOCK_REALTIME just after it
  std::int64_t size_ns;      // positive: set forward
};

class AxisClock {
 public:
  static constexpr std::int64_t kLastNs = kLastWallNs;

  // `anchors` of all processes that share the counter, in any order. Ones with times that no clock shows (before 1970,
  // after kLastNs) are left out. Without any anchor the clock maps nothing.
  static AxisClock fit(std::span<const spool::AnchorRecord> anchors);
  // The same by way of CLOCK_MONOTONIC_RAW: `axis_of_raw` says where on the axis the node was when that clock, as the
  // processes of these anchors see it, read so many ns. It must rise.
  static AxisClock fit(std::span<const spool::AnchorRecord> anchors,
                       const std::function<std::int64_t(std::int64_t raw_ns)>& axis_of_raw);

  bool is_valid() const { return !knots_.empty(); }
  // ns since the Unix epoch, at the instant `counter` was read: linear between anchors, extrapolated beyond the first
  // and last, and held within 0 and kLastNs, so that two times can always be subtracted. Rises with `counter`. Only if
  // is_valid().
  std::int64_t axis_ns(std::uint64_t counter) const;
  // How often and by how much the wall clock was set between anchors.
  const std::vector<WallClockStep>& steps() const { return steps_; }
  // By how much two readings of one anchor may be apart, at most over those that are used: half of its bracket. ns.
  double reading_error_ns() const { return reading_error_ns_; }

  // Where the slope changes, by counter.
  struct Knot {
    std::uint64_t counter;
    std::int64_t axis_ns;
    double ns_per_tick;  // from here to the next knot
  };
  std::span<const Knot> knots() const { return knots_; }

 private:
  void draw_through(std::span<const spool::AnchorRecord> anchors);

  std::vector<Knot> knots_;
  std::vector<WallClockStep> steps_;
  double reading_error_ns_ = 0;
};

}  // namespace jaxprof::clock
