// CLOCK_REALTIME of a simulated node: its CLOCK_MONOTONIC_RAW as a time daemon steers it. The kernel counts the same
// crystal at a rate that the daemon corrects now and then; it may slew for some seconds, or set the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/simulator/sim_clock.h"

namespace jaxprof::test {

// Times are ns of true time from the start of the run.
struct SimWallEvent {
  std::int64_t at_ns = 0;
  double step_ns = 0;
  double slew_ppm = 0;  // for slew_ns
  std::int64_t slew_ns = 0;
};

class SimWall {
 public:
  SimWall(const SimClock& clock, std::int64_t length_ns, const std::vector<SimWallEvent>& events, SimRandom random);

  // `place` is where the last search ended; 0 at first.
  std::int64_t wall_ns(std::int64_t raw_ns, std::size_t* place) const;

 private:
  struct Line {
    std::int64_t raw_ns;   // from here on
    double difference_ns;  // wall - raw - base_ns_
    double slope;
  };
  std::int64_t base_ns_;
  std::vector<Line> lines_;
};

}  // namespace jaxprof::test
