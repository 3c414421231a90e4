#include "merge/clock/axis_clock.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace jaxprof::clock {
namespace {

// Anchors closer than this are thinned to the one with the narrowest bracket: a slope over less is mostly noise.
constexpr std::int64_t kKnotSpacingNs = 1'000'000'000;
// A disciplined clock is slewed by at most 500 ppm (adjtimex(2)); what moves faster was set.
constexpr double kMaxSlew = 500e-6;
constexpr std::int64_t kStepFloorNs = 1'000'000;

// Plausible anchors by counter, each counter once, CLOCK_MONOTONIC_RAW rising with it. The limits of what is plausible
// keep every difference below within 64 bits.
std::vector<spool::AnchorRecord> put_in_order(std::span<const spool::AnchorRecord> anchors) {
  std::vector<spool::AnchorRecord> sorted;
  std::copy_if(anchors.begin(), anchors.end(), std::back_inserter(sorted),
               [](const spool::AnchorRecord& anchor) { return is_plausible(anchor); });
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.counter < b.counter; });
  std::vector<spool::AnchorRecord> rising;
  for (const spool::AnchorRecord& anchor : sorted) {
    const bool is_later = rising.empty() || (anchor.counter > rising.back().counter &&
                                             anchor.monotonic_raw_ns >= rising.back().monotonic_raw_ns);
    if (is_later) rising.push_back(anchor);
  }
  return rising;
}

std::vector<spool::AnchorRecord> thin(std::span<const spool::AnchorRecord> sorted) {
  std::vector<spool::AnchorRecord> kept;
  for (const spool::AnchorRecord& anchor : sorted) {
    if (kept.empty() || anchor.monotonic_raw_ns - kept.back().monotonic_raw_ns >= kKnotSpacingNs) {
      kept.push_back(anchor);
    } else if (anchor.bracket < kept.back().bracket && kept.size() > 1) {
      kept.back() = anchor;
    }
  }
  // The last anchor ends the model, however close: a short run has little else.
  if (kept.back().counter < sorted.back().counter) {
    const bool is_close = sorted.back().monotonic_raw_ns - kept.back().monotonic_raw_ns < kKnotSpacingNs;
    if (is_close && kept.size() > 1) kept.pop_back();
    kept.push_back(sorted.back());
  }
  return kept;
}

// Takes the steps out of the anchors' wall clock.
std::vector<WallClockStep> take_out_steps(std::vector<spool::AnchorRecord>* sorted) {
  std::vector<WallClockStep> steps;
  std::int64_t step_sum_ns = 0;
  std::int64_t previous_offset_ns = sorted->front().realtime_ns - sorted->front().monotonic_raw_ns;
  std::int64_t previous_raw_ns = sorted->front().monotonic_raw_ns;
  for (spool::AnchorRecord& anchor : *sorted) {
    const std::int64_t offset_ns = anchor.realtime_ns - anchor.monotonic_raw_ns;
    const std::int64_t change_ns = offset_ns - previous_offset_ns;
    const auto limit_ns =
        kStepFloorNs + std::llround(kMaxSlew * static_cast<double>(anchor.monotonic_raw_ns - previous_raw_ns));
    if (std::abs(change_ns) > limit_ns) {
      step_sum_ns += change_ns;
      steps.push_back({anchor.realtime_ns, change_ns});
    }
    previous_offset_ns = offset_ns;
    previous_raw_ns = anchor.monotonic_raw_ns;
    anchor.realtime_ns = std::clamp(anchor.realtime_ns - step_sum_ns, std::int64_t{0}, AxisClock::kLastNs);
  }
  return steps;
}

}  // namespace

AxisClock AxisClock::fit(std::span<const spool::AnchorRecord> anchors) {
  AxisClock clock;
  std::vector<spool::AnchorRecord> sorted = put_in_order(anchors);
  if (sorted.empty()) return clock;
  clock.steps_ = take_out_steps(&sorted);
  clock.draw_through(sorted);
  return clock;
}

AxisClock AxisClock::fit(std::span<const spool::AnchorRecord> anchors,
                         const std::function<std::int64_t(std::int64_t raw_ns)>& axis_of_raw) {
  AxisClock clock;
  std::vector<spool::AnchorRecord> sorted = put_in_order(anchors);
  if (sorted.empty()) return clock;
  clock.steps_ = take_out_steps(&sorted);
  for (spool::AnchorRecord& anchor : sorted) {
    anchor.realtime_ns = std::clamp(axis_of_raw(anchor.monotonic_raw_ns), std::int64_t{0}, kLastNs);
  }
  clock.draw_through(sorted);
  return clock;
}

// `anchors` are in order, and each one's realtime_ns is where it lies on the axis.
void AxisClock::draw_through(std::span<const spool::AnchorRecord> anchors) {
  const std::vector<spool::AnchorRecord> kept = thin(anchors);
  for (const spool::AnchorRecord& anchor : kept) knots_.push_back({anchor.counter, anchor.realtime_ns, 1.0});
  for (std::size_t i = 0; i + 1 < knots_.size(); ++i) {
    Knot& knot = knots_[i];
    const Knot& next = knots_[i + 1];
    const double slope =
        static_cast<double>(next.axis_ns - knot.axis_ns) / static_cast<double>(next.counter - knot.counter);
    // Two anchors microseconds apart can come out flat or backwards; time never does.
    knot.ns_per_tick = std::max(slope, 1e-6);
  }
  if (knots_.size() > 1) knots_.back().ns_per_tick = knots_[knots_.size() - 2].ns_per_tick;
  for (std::size_t i = 0; i < kept.size(); ++i) {
    reading_error_ns_ = std::max(reading_error_ns_, static_cast<double>(kept[i].bracket) * knots_[i].ns_per_tick / 2);
  }
}

std::int64_t AxisClock::axis_ns(std::uint64_t counter) const {
  auto after = std::upper_bound(knots_.begin(), knots_.end(), counter,
                                [](std::uint64_t value, const Knot& knot) { return value < knot.counter; });
  const Knot& knot = after == knots_.begin() ? *after : *(after - 1);
  // Unsigned difference, signed meaning: a stamp before the first anchor gives a negative one.
  const auto ticks = static_cast<std::int64_t>(counter - knot.counter);
  // As far as the year 2116 either way, where a double still becomes an integer.
  const double ns = std::clamp(static_cast<double>(ticks) * knot.ns_per_tick, -static_cast<double>(kLastNs),
                               static_cast<double>(kLastNs));
  // At most 2^62 - 1 and 2^62, so the sum fits.
  return std::clamp(knot.axis_ns + static_cast<std::int64_t>(std::llround(ns)), std::int64_t{0}, kLastNs);
}

}  // namespace jaxprof::clock
