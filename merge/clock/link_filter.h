// The difference of two clocks over time, from bursts that say it with more or less noise: a Kalman filter of offset
// and frequency, run forward, and a Rauch-Tung-Striebel smoother back. Frequencies wander by 3e-8 a square-root second;
// a pair of clocks that is seen to wander more is allowed more, so that the errors stay true for it. Bursts that lie
// far off get as much more noise as brings them back in line, and if most lie off by more than they say, all do.
#pragma once

#include <span>
#include <vector>

namespace jaxprof::clock {

struct LinkSight {
  double time_ns = 0;
  double offset_ns = 0;
  double sigma_ns = 0;  // positive
};

struct LinkState {
  double offset_ns = 0;
  double frequency = 0;  // ns per ns
  double sigma_ns = 0;
  double frequency_sigma = 0;
};

class LinkFilter {
 public:
  // States at `times_ns`. Both by time; with no sight, none. Scratch memory is kept between calls.
  const std::vector<LinkState>& smooth(std::span<const LinkSight> sights, std::span<const double> times_ns);

 private:
  struct Moments {
    double offset = 0;     // ns
    double frequency = 0;  // ns a second
    double p00 = 0;
    double p01 = 0;
    double p11 = 0;
  };
  struct Step {
    double time_s = 0;
    const LinkSight* sight = nullptr;
    double own_variance = 0;  // of the sight, as it says, and
    double variance = 0;      // … as it is taken
    Moments predicted = {};
    Moments filtered = {};
  };
  std::size_t run_forward(double wander, double gate);
  void run_back();
  double noise_scale();
  void tame_outliers(double wander);
  static Moments predict(const Moments& from, double seconds, double wander);

  std::vector<Step> steps_;
  std::vector<double> ratios_;
  std::vector<LinkState> states_;
};

}  // namespace jaxprof::clock
