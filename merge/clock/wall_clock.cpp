#include "merge/clock/wall_clock.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::clock {
namespace {

// Anchors closer than this are thinned to the one with the narrowest bracket: a slope over less is mostly noise.
constexpr std::int64_t kKnotSpacingNs = 1'000'000'000;
// A disciplined clock is slewed by at most 500 ppm (adjtimex(2)); what moves faster was set.
constexpr double kMaxSlew = 500e-6;
constexpr std::int64_t kStepFloorNs = 1'000'000;

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

}  // namespace

WallClockModel WallClockModel::fit(std::span<const spool::AnchorRecord> anchors) {
  WallClockModel model;
  if (anchors.empty()) return model;
  std::vector<spool::AnchorRecord> sorted(anchors.begin(), anchors.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.counter < b.counter; });
  sorted.erase(
      std::unique(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.counter == b.counter; }),
      sorted.end());

  std::int64_t step_sum_ns = 0;
  std::int64_t previous_offset_ns = sorted.front().realtime_ns - sorted.front().monotonic_raw_ns;
  std::int64_t previous_raw_ns = sorted.front().monotonic_raw_ns;
  for (spool::AnchorRecord& anchor : sorted) {
    const std::int64_t offset_ns = anchor.realtime_ns - anchor.monotonic_raw_ns;
    const std::int64_t change_ns = offset_ns - previous_offset_ns;
    const auto limit_ns =
        kStepFloorNs + std::llround(kMaxSlew * static_cast<double>(anchor.monotonic_raw_ns - previous_raw_ns));
    if (std::abs(change_ns) > limit_ns) {
      step_sum_ns += change_ns;
      model.steps_.push_back({anchor.realtime_ns, change_ns});
    }
    previous_offset_ns = offset_ns;
    previous_raw_ns = anchor.monotonic_raw_ns;
    anchor.realtime_ns -= step_sum_ns;
  }

  const std::vector<spool::AnchorRecord> kept = thin(sorted);
  for (const spool::AnchorRecord& anchor : kept) model.knots_.push_back({anchor.counter, anchor.realtime_ns, 1.0});
  for (std::size_t i = 0; i + 1 < model.knots_.size(); ++i) {
    Knot& knot = model.knots_[i];
    const Knot& next = model.knots_[i + 1];
    const double slope =
        static_cast<double>(next.realtime_ns - knot.realtime_ns) / static_cast<double>(next.counter - knot.counter);
    // Two anchors microseconds apart can come out flat or backwards; time never does.
    knot.ns_per_tick = std::max(slope, 1e-6);
  }
  if (model.knots_.size() > 1) model.knots_.back().ns_per_tick = model.knots_[model.knots_.size() - 2].ns_per_tick;
  return model;
}

std::int64_t WallClockModel::realtime_ns(std::uint64_t counter) const {
  auto after = std::upper_bound(knots_.begin(), knots_.end(), counter,
                                [](std::uint64_t value, const Knot& knot) { return value < knot.counter; });
  const Knot& knot = after == knots_.begin() ? *after : *(after - 1);
  // Unsigned difference, signed meaning: a stamp before the first anchor gives a negative one.
  const auto ticks = static_cast<std::int64_t>(counter - knot.counter);
  return knot.realtime_ns + std::llround(static_cast<double>(ticks) * knot.ns_per_tick);
}

}  // namespace jaxprof::clock
