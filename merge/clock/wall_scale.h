// What CLOCK_REALTIME read when CLOCK_MONOTONIC_RAW did, from a node's dense readings of both: kernel stamps of packets
// are of the one, the clocks' model is of the other. The difference is kept as lines between few of the readings, each
// with a bound on what it may be wrong by: the time that a reading took, how far readings lie off the line, and how far
// the clock can have left it between two readings where its rate changed. Where the clock was set nothing is converted.
// Ten readings a second of a node that runs for half an hour become some 500 knots.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/spool/clock_codec.h"

namespace jaxprof::clock {

class WallScale {
 public:
  struct Instant {
    std::int64_t raw_ns = 0;
    double error_ns = 0;  // the truth is within this of raw_ns
  };
  struct Step {
    std::int64_t raw_ns = 0;   // of the first reading after it
    std::int64_t size_ns = 0;  // positive: set forward
  };
  // Where the last conversion was: stamps come in the order of time, mostly.
  struct Place {
    std::size_t segment = 0;
  };

  // Readings in any order. Ones that no clock shows are left out, and ones that took much longer than most.
  static WallScale fit(std::span<const spool::ClockReading> readings);

  // CLOCK_MONOTONIC_RAW when CLOCK_REALTIME read `wall_ns`, which was near `near_raw_ns`. None where the clock was set
  // just then, or no reading is near.
  std::optional<Instant> raw_at(std::int64_t wall_ns, std::int64_t near_raw_ns, Place* place) const;

  const std::vector<Step>& steps() const { return steps_; }
  std::size_t knots() const { return knots_.size(); }

 private:
  struct Knot {
    std::int64_t raw_ns = 0;
    std::int64_t difference_ns = 0;  // wall - raw
    float error_ns = 0;              // from here to the next knot; negative: not known
    float stretch = 0;               // likewise: of raw per ns of wall, less 1
  };

  void find_steps(const std::vector<spool::ClockReading>& readings, std::vector<float>* errors_ns);
  void thin(const std::vector<spool::ClockReading>& readings, const std::vector<float>& errors_ns);
  void close_segment(std::span<const spool::ClockReading> readings, std::span<const float> errors_ns);

  std::vector<Knot> knots_;
  std::vector<Step> steps_;
};

}  // namespace jaxprof::clock
