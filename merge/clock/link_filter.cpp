#include "merge/clock/link_filter.h"

#include <algorithm>
#include <cmath>

#include "merge/clock/median.h"

namespace jaxprof::clock {
namespace {

constexpr double kSecondNs = 1e9;
constexpr double kWander = 30;       // ns/s per square-root second
constexpr double kMostWander = 5e4;  // of a pair of clocks that is not worth the name
constexpr double kWanderStep = 10;
constexpr double kFirstFrequency = 100e3;  // ns/s: two crystals of 50 ppm each
constexpr double kOutlier = 3;             // sigmas
constexpr int kTamings = 5;
constexpr int kScalings = 6;
constexpr double kScaled = 1.2;
constexpr double kGate = 5;  // sigmas that the next sight is off at most
constexpr double kNoGate = 1e9;
constexpr std::size_t kWanderingRun = 2;  // sights in a row that are off on one side
constexpr std::size_t kLeastSights = 8;   // that tell how much they scatter

}  // namespace

LinkFilter::Moments LinkFilter::predict(const Moments& from, double seconds, double wander) {
  const double q = wander * wander;
  Moments to;
  to.offset = from.offset + from.frequency * seconds;
  to.frequency = from.frequency;
  to.p00 = from.p00 + seconds * (2 * from.p01 + seconds * from.p11) + q * seconds * seconds * seconds / 3;
  to.p01 = from.p01 + seconds * from.p11 + q * seconds * seconds / 2;
  to.p11 = from.p11 + q * seconds;
  return to;
}

// With a gate, sights that the filter did not expect are left out, and how many of them came one behind the other at
// most, all on one side, is returned: a bad burst is alone, but a clock that wanders more than it may does not come
// back.
std::size_t LinkFilter::run_forward(double wander, double gate) {
  std::size_t longest = 0;
  std::size_t run = 0;
  bool was_ahead = false;
  Moments now;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& step = steps_[i];
    if (i == 0) {
      // Nothing lies before the first sight: smooth() goes back from there.
      now = {step.sight->offset_ns, 0, step.variance, 0, kFirstFrequency * kFirstFrequency};
      step.predicted = step.filtered = now;
      continue;
    }
    now = predict(now, step.time_s - steps_[i - 1].time_s, wander);
    step.predicted = now;
    if (step.sight != nullptr) {
      const double innovation = step.sight->offset_ns - now.offset;
      const double variance = now.p00 + step.variance;
      const bool is_ahead = innovation > 0;
      if (innovation * innovation > gate * gate * variance) {
        run = run > 0 && is_ahead == was_ahead ? run + 1 : 1;
        was_ahead = is_ahead;
        longest = std::max(longest, run);
        step.filtered = now;
        continue;
      }
      run = 0;
      const double gain0 = now.p00 / variance;
      const double gain1 = now.p01 / variance;
      now.offset += gain0 * innovation;
      now.frequency += gain1 * innovation;
      now.p11 -= gain1 * now.p01;
      now.p01 -= gain0 * now.p01;
      now.p00 -= gain0 * now.p00;
    }
    step.filtered = now;
  }
  return longest;
}

// Leaves the smoothed moments in `filtered`.
void LinkFilter::run_back() {
  for (std::size_t i = steps_.size() - 1; i-- > 0;) {
    const double dt = steps_[i + 1].time_s - steps_[i].time_s;
    if (dt <= 0 && steps_[i + 1].sight == nullptr) {
      steps_[i].filtered = steps_[i + 1].filtered;
      continue;
    }
    Moments& now = steps_[i].filtered;
    const Moments& predicted = steps_[i + 1].predicted;
    const Moments& later = steps_[i + 1].filtered;
    const double determinant = predicted.p00 * predicted.p11 - predicted.p01 * predicted.p01;
    if (determinant <= 0) continue;
    // C = P Fᵀ Q⁻¹, with F = [1 dt; 0 1] and Q the predicted covariance.
    const double u00 = now.p00 + dt * now.p01;
    const double u10 = now.p01 + dt * now.p11;
    const double c00 = (u00 * predicted.p11 - now.p01 * predicted.p01) / determinant;
    const double c01 = (now.p01 * predicted.p00 - u00 * predicted.p01) / determinant;
    const double c10 = (u10 * predicted.p11 - now.p11 * predicted.p01) / determinant;
    const double c11 = (now.p11 * predicted.p00 - u10 * predicted.p01) / determinant;
    const double offset = later.offset - predicted.offset;
    const double frequency = later.frequency - predicted.frequency;
    const double d00 = later.p00 - predicted.p00;
    const double d01 = later.p01 - predicted.p01;
    const double d11 = later.p11 - predicted.p11;
    const double e00 = c00 * d00 + c01 * d01;
    const double e01 = c00 * d01 + c01 * d11;
    const double e10 = c10 * d00 + c11 * d01;
    const double e11 = c10 * d01 + c11 * d11;
    now.offset += c00 * offset + c01 * frequency;
    now.frequency += c10 * offset + c11 * frequency;
    now.p00 = std::max(0.0, now.p00 + e00 * c00 + e01 * c01);
    now.p01 += e00 * c10 + e01 * c11;
    now.p11 = std::max(0.0, now.p11 + e10 * c10 + e11 * c11);
  }
}

// By how much sights scatter more than they say, from their median; 1 if they do not or are few.
double LinkFilter::noise_scale() {
  ratios_.clear();
  for (const Step& step : steps_) {
    if (step.sight == nullptr) continue;
    ratios_.push_back(std::abs(step.sight->offset_ns - step.filtered.offset) / std::sqrt(step.variance));
  }
  return ratios_.size() < kLeastSights ? 1.0 : std::max(1.0, 1.4826 * median(&ratios_));
}

// Gives sights that lie far off as much more noise as brings them back in line, and others what they had; again and
// again, since one that lies far off drags its neighbours along at first.
void LinkFilter::tame_outliers(double wander) {
  for (int round = 0; round < kTamings; ++round) {
    bool is_any = false;
    for (Step& step : steps_) {
      if (step.sight == nullptr) continue;
      const double off = std::abs(step.sight->offset_ns - step.filtered.offset);
      const double allowed = kOutlier * std::sqrt(step.own_variance + step.filtered.p00);
      const double share = std::max(1.0, off / allowed);
      is_any = is_any || share > 1;
      step.variance = step.own_variance * share * share;
    }
    if (!is_any) return;
    run_forward(wander, kNoGate);
    run_back();
  }
}

const std::vector<LinkState>& LinkFilter::smooth(std::span<const LinkSight> sights, std::span<const double> times_ns) {
  states_.clear();
  if (sights.empty()) return states_;
  steps_.clear();
  const double first_ns = sights.front().time_ns;
  std::size_t next = static_cast<std::size_t>(
      std::partition_point(times_ns.begin(), times_ns.end(), [&](double time) { return time < first_ns; }) -
      times_ns.begin());
  const std::size_t before = next;
  for (const LinkSight& sight : sights) {
    for (; next < times_ns.size() && times_ns[next] < sight.time_ns; ++next) {
      steps_.push_back({.time_s = (times_ns[next] - first_ns) / kSecondNs});
    }
    const double variance = sight.sigma_ns * sight.sigma_ns;
    steps_.push_back({(sight.time_ns - first_ns) / kSecondNs, &sight, variance, variance});
  }
  for (; next < times_ns.size(); ++next) steps_.push_back({.time_s = (times_ns[next] - first_ns) / kSecondNs});

  double wander = kWander;
  for (int round = 0; round < kScalings; ++round) {
    run_forward(wander, kNoGate);
    run_back();
    const double scale = noise_scale();
    if (scale < kScaled) break;
    for (Step& step : steps_) step.variance = step.own_variance *= scale * scale;
  }
  while (run_forward(wander, kGate) >= kWanderingRun && wander < kMostWander) wander *= kWanderStep;
  run_forward(wander, kNoGate);
  run_back();
  tame_outliers(wander);

  const auto add_state = [this](const Moments& moments) {
    states_.push_back(
        {moments.offset, moments.frequency / kSecondNs, std::sqrt(moments.p00), std::sqrt(moments.p11) / kSecondNs});
  };
  for (std::size_t i = 0; i < before; ++i) {
    Moments earliest = steps_.front().filtered;
    earliest.p01 = -earliest.p01;  // time runs back
    earliest.frequency = -earliest.frequency;
    Moments state = predict(earliest, (first_ns - times_ns[i]) / kSecondNs, wander);
    state.frequency = -state.frequency;
    add_state(state);
  }
  for (const Step& step : steps_) {
    if (step.sight == nullptr) add_state(step.filtered);
  }
  return states_;
}

}  // namespace jaxprof::clock
