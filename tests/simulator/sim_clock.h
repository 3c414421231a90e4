// CLOCK_MONOTONIC_RAW of a simulated node: a crystal that is off by some ppm, settles as the node warms up, wobbles,
// and walks at random; which may jump or take another rate, as when a virtual machine moves. Known at every instant of
// true time, which is what a test holds a model against. Times are ns of true time from the start of the run.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/simulator/sim_random.h"

namespace jaxprof::test {

struct SimJump {
  std::int64_t at_ns = 0;
  double size_ns = 0;
  double rate_ppm = 0;  // what the clock runs faster from there on
};

struct SimClockOptions {
  std::int64_t raw_at_start_ns = 0;
  double crystal_ppm = 0;
  double thermal_ppm = 0;  // at the start, and gone with thermal_tau_s
  double thermal_tau_s = 300;
  double wobble_ppm = 0;
  double wobble_period_s = 120;
  double random_walk = 0;           // of the rate, per square-root second
  std::vector<SimJump> jumps = {};  // by time
};

class SimClock {
 public:
  // `length_ns`: of the run.
  SimClock(SimClockOptions options, std::int64_t length_ns, SimRandom random);

  std::int64_t raw_ns(std::int64_t true_ns) const;
  // ns per ns that it runs faster than true time.
  double rate(std::int64_t true_ns) const;

  // The clock as a line around an instant, for the few milliseconds of a burst.
  struct Tangent {
    std::int64_t at_ns;
    std::int64_t raw_ns;
    double fraction_ns;
    double rate;
    std::int64_t raw(std::int64_t true_ns) const {
      const std::int64_t elapsed_ns = true_ns - at_ns;
      return raw_ns + elapsed_ns + std::llround(fraction_ns + rate * static_cast<double>(elapsed_ns));
    }
  };
  // Only if has_jump(true_ns, …) is false for its whole use.
  Tangent tangent(std::int64_t true_ns) const;
  bool has_jump(std::int64_t from_ns, std::int64_t to_ns) const;

 private:
  double ahead_ns(std::int64_t true_ns) const;

  SimClockOptions options_;
  double wobble_phase_;
  std::vector<double> walk_rates_;  // of each ten seconds, and
  std::vector<double> walked_ns_;   // what they have added up to at its begin
};

}  // namespace jaxprof::test
