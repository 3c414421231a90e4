// CUPTI's clock to the run's axis. CUPTI stamps with CLOCK_REALTIME, which may be slewed or set while a process
// records; the agent therefore reads it together with the event clock, again and again, and the axis is reached through
// these readings and not through what the wall clock happened to say. Between two readings the difference of the clocks
// is taken as linear. Where it jumps, the clock was set: the readings fall into pieces, and a stamp belongs to the
// piece in whose time it comes out. After the clock was set back, some stamps fit two pieces; they are told.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "agent/spool/block.h"
#include "agent/spool/state_record.h"
#include "merge/clock/axis_clock.h"

namespace jaxprof::clock {

class GpuClockModel {
 public:
  struct Instant {
    std::int64_t axis_ns = 0;  // as AxisClock::realtime_ns
    bool is_ambiguous = false;
  };

  // From readings of one process, in any order; `wall` is of its node and valid. Readings that took much longer than
  // most are left out.
  static GpuClockModel fit(std::span<const spool::GpuClockState> readings, const AxisClock& wall);
  // Without readings (the process was killed before the first): CUPTI's clock is taken for CLOCK_REALTIME, which the
  // anchors have.
  static GpuClockModel fit(std::span<const spool::AnchorRecord> anchors, const AxisClock& wall);

  bool is_valid() const { return !pieces_.empty(); }
  // Only if is_valid(). `gpu_ns` is a stamp of CUPTI's clock, ns.
  Instant at(std::int64_t gpu_ns) const;
  // How often the clock was set between two readings.
  std::size_t steps() const { return pieces_.empty() ? 0 : pieces_.size() - 1; }
  // By how much a reading lies off the line between its neighbours, at most; NaN with fewer than three readings.
  double residual_ns() const { return residual_ns_; }

 private:
  struct Knot {
    std::int64_t gpu_ns;
    std::int64_t axis_ns;
  };
  // Readings between which the clock was not set. [from, until]: the time on the axis that can be its own.
  struct Piece {
    std::vector<Knot> knots;
    std::int64_t from_ns;
    std::int64_t until_ns;
    std::int64_t axis_ns(std::int64_t gpu_ns) const;
  };

  static GpuClockModel through(const std::vector<Knot>& knots);
  void measure_residual();

  std::vector<Piece> pieces_;
  double residual_ns_;
};

}  // namespace jaxprof::clock
