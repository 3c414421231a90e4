#include "merge/clock/clock_solution.h"

#include <algorithm>
#include <cmath>

#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

std::int64_t reference_of(const ClockKnot& knot) {
  return knot.raw_ns + knot.offset_ns;
}

// The first of the two knots whose line holds at a place: `is_behind(knot)` says whether the knot lies behind it.
template <typename IsBehind>
std::size_t segment_at(const std::vector<ClockKnot>& knots, const IsBehind& is_behind) {
  const auto after =
      std::partition_point(knots.begin(), knots.end(), [&](const auto& knot) { return !is_behind(knot); });
  const auto index = static_cast<std::size_t>(after - knots.begin());
  return std::clamp<std::size_t>(index, 1, knots.size() - 1) - 1;
}

double lerp(double from, double to, double share) {
  return from + (to - from) * share;
}

}  // namespace

std::int64_t reference_raw_ns(const NodeSolution& node, std::int64_t raw_ns) {
  const std::vector<ClockKnot>& knots = node.knots;
  const ClockKnot& first = knots.front();
  if (knots.size() == 1) {
    return raw_ns + first.offset_ns + round_ns(first.frequency * static_cast<double>(raw_ns - first.raw_ns));
  }
  const std::size_t at = segment_at(knots, [&](const ClockKnot& knot) { return knot.raw_ns > raw_ns; });
  const ClockKnot& from = knots[at];
  const ClockKnot& to = knots[at + 1];
  const double slope =
      static_cast<double>(to.offset_ns - from.offset_ns) / static_cast<double>(to.raw_ns - from.raw_ns);
  return raw_ns + from.offset_ns + round_ns(slope * static_cast<double>(raw_ns - from.raw_ns));
}

std::int64_t node_raw_ns(const NodeSolution& node, std::int64_t reference_ns) {
  const std::vector<ClockKnot>& knots = node.knots;
  const ClockKnot& first = knots.front();
  if (knots.size() == 1) {
    const auto distance_ns = static_cast<double>(reference_ns - reference_of(first));
    return first.raw_ns + (reference_ns - reference_of(first)) -
           round_ns(first.frequency / (1 + first.frequency) * distance_ns);
  }
  const std::size_t at = segment_at(knots, [&](const ClockKnot& knot) { return reference_of(knot) > reference_ns; });
  const ClockKnot& from = knots[at];
  const ClockKnot& to = knots[at + 1];
  const std::int64_t distance_ns = reference_ns - reference_of(from);
  const double slope =
      static_cast<double>(to.offset_ns - from.offset_ns) / static_cast<double>(reference_of(to) - reference_of(from));
  return from.raw_ns + distance_ns - round_ns(slope * static_cast<double>(distance_ns));
}

ClockError error_at(const NodeSolution& node, std::int64_t raw_ns) {
  const std::vector<ClockKnot>& knots = node.knots;
  const auto beyond = [&](const ClockKnot& knot) -> ClockError {
    const double grown_ns = node.drift_bound * std::abs(static_cast<double>(raw_ns - knot.raw_ns));
    // The bound on the drift is three times what was observed.
    return {std::hypot(knot.sigma_ns, grown_ns / 3), knot.hard_lo_ns - grown_ns, knot.hard_hi_ns + grown_ns};
  };
  if (raw_ns <= knots.front().raw_ns) return beyond(knots.front());
  if (raw_ns >= knots.back().raw_ns) return beyond(knots.back());
  const std::size_t at = segment_at(knots, [&](const ClockKnot& knot) { return knot.raw_ns > raw_ns; });
  const ClockKnot& from = knots[at];
  const ClockKnot& to = knots[at + 1];
  const double share = static_cast<double>(raw_ns - from.raw_ns) / static_cast<double>(to.raw_ns - from.raw_ns);
  return {lerp(from.sigma_ns, to.sigma_ns, share), lerp(from.hard_lo_ns, to.hard_lo_ns, share),
          lerp(from.hard_hi_ns, to.hard_hi_ns, share)};
}

}  // namespace jaxprof::clock
