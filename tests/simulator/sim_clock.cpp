#include "tests/simulator/sim_clock.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::test {
namespace {

constexpr double kSecondNs = 1e9;
constexpr double kWalkStepNs = 10 * kSecondNs;

}  // namespace

SimClock::SimClock(SimClockOptions options, std::int64_t length_ns, SimRandom random)
    : options_(std::move(options)), wobble_phase_(random.uniform(0, 2 * M_PI)) {
  double rate = 0;
  double walked_ns = 0;
  const auto steps = static_cast<std::size_t>(static_cast<double>(length_ns) / kWalkStepNs) + 2;
  for (std::size_t i = 0; i < steps; ++i) {
    walk_rates_.push_back(rate);
    walked_ns_.push_back(walked_ns);
    walked_ns += rate * kWalkStepNs;
    rate += random.normal(options_.random_walk * std::sqrt(kWalkStepNs / kSecondNs));
  }
}

double SimClock::ahead_ns(std::int64_t true_ns) const {
  const auto t_ns = static_cast<double>(true_ns);
  const double tau_ns = options_.thermal_tau_s * kSecondNs;
  const double turn_ns = options_.wobble_period_s * kSecondNs / (2 * M_PI);
  double ahead = options_.crystal_ppm * 1e-6 * t_ns;
  ahead += options_.thermal_ppm * 1e-6 * tau_ns * (1 - std::exp(-t_ns / tau_ns));
  ahead += options_.wobble_ppm * 1e-6 * turn_ns * (std::cos(wobble_phase_) - std::cos(wobble_phase_ + t_ns / turn_ns));
  const double place = std::max(0.0, t_ns / kWalkStepNs);
  const std::size_t step = std::min(static_cast<std::size_t>(place), walk_rates_.size() - 1);
  ahead += walked_ns_[step] + walk_rates_[step] * (t_ns - static_cast<double>(step) * kWalkStepNs);
  for (const SimJump& jump : options_.jumps) {
    if (true_ns < jump.at_ns) break;
    ahead += jump.size_ns + jump.rate_ppm * 1e-6 * static_cast<double>(true_ns - jump.at_ns);
  }
  return ahead;
}

std::int64_t SimClock::raw_ns(std::int64_t true_ns) const {
  return options_.raw_at_start_ns + true_ns + std::llround(ahead_ns(true_ns));
}

double SimClock::rate(std::int64_t true_ns) const {
  const auto t_ns = static_cast<double>(true_ns);
  const double turn_ns = options_.wobble_period_s * kSecondNs / (2 * M_PI);
  double ppm = options_.crystal_ppm;
  ppm += options_.thermal_ppm * std::exp(-t_ns / (options_.thermal_tau_s * kSecondNs));
  ppm += options_.wobble_ppm * std::sin(wobble_phase_ + t_ns / turn_ns);
  for (const SimJump& jump : options_.jumps) ppm += true_ns < jump.at_ns ? 0 : jump.rate_ppm;
  const auto step = static_cast<std::size_t>(std::max(0.0, t_ns / kWalkStepNs));
  return ppm * 1e-6 + walk_rates_[std::min(step, walk_rates_.size() - 1)];
}

SimClock::Tangent SimClock::tangent(std::int64_t true_ns) const {
  const double ahead = ahead_ns(true_ns);
  const double whole = std::floor(ahead);
  return {true_ns, options_.raw_at_start_ns + true_ns + static_cast<std::int64_t>(whole), ahead - whole, rate(true_ns)};
}

bool SimClock::has_jump(std::int64_t from_ns, std::int64_t to_ns) const {
  return std::any_of(options_.jumps.begin(), options_.jumps.end(),
                     [&](const SimJump& jump) { return from_ns <= jump.at_ns && jump.at_ns <= to_ns; });
}

}  // namespace jaxprof::test
