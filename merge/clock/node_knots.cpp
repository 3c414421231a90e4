#include "merge/clock/node_knots.h"

#include <algorithm>
#include <cmath>

#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

constexpr double kNoLimitNs = 1e15;              // 12 days; stands for unbounded
constexpr std::int64_t kBesideNs = 1'000;        // from a cut's end to where the hard interval has become wide
constexpr std::int64_t kShortestNs = 1'000'000;  // between an era's knots: the line of its last two goes on
constexpr double kReachNs = 1e9;                 // where a knot is made up so that there are two

// The knots of one era, from its track; without those that lie where no clock is.
std::vector<ClockKnot> era_knots(const SolvedEras& solved, std::uint32_t era) {
  const EraTrack& track = solved.model->eras[era];
  const CoarseClock& clock = (*solved.clocks)[era];
  std::vector<ClockKnot> knots;
  for (std::size_t i = 0; i < track.offsets_ns.size(); ++i) {
    const double axis_ns = solved.model->epochs.at(track.first + static_cast<std::uint32_t>(i));
    const double after_ns = clock.after_raw(axis_ns + track.offsets_ns[i]);
    const std::int64_t whole_ns = round_ns(after_ns);
    const double rest_ns = (static_cast<double>(whole_ns) - after_ns) * clock.rate;
    const Interval& bound = solved.bounds->eras[era][i];
    // The track says how far the clock is ahead; the offset how far the reference is.
    ClockKnot knot;
    knot.raw_ns = clock.raw_ns + whole_ns;
    const std::int64_t reference_ns = solved.reference_ns + round_ns(axis_ns + rest_ns);
    if (is_far(knot.raw_ns) || is_far(reference_ns)) continue;
    knot.offset_ns = reference_ns - knot.raw_ns;
    knot.sigma_ns = std::min(static_cast<double>(track.sigmas_ns[i]), kNoLimitNs);
    knot.hard_lo_ns = std::clamp(-bound.hi, -kNoLimitNs, 0.0);
    knot.hard_hi_ns = std::clamp(-bound.lo, 0.0, kNoLimitNs);
    knots.push_back(knot);
  }
  return knots;
}

// The model of one era, by which it can be told where it would be outside of it.
NodeSolution era_model(std::vector<ClockKnot> knots, double frequency, double drift) {
  NodeSolution era;
  era.knots = std::move(knots);
  era.knots.front().frequency = frequency;
  era.drift_bound = drift;
  return era;
}

// A knot on the line of an era at another time.
ClockKnot knot_at(const NodeSolution& era, std::int64_t raw_ns) {
  ClockKnot knot;
  knot.raw_ns = raw_ns;
  knot.offset_ns = hold_ns(reference_raw_ns(era, raw_ns)) - raw_ns;
  const ClockError error = error_at(era, raw_ns);
  knot.sigma_ns = error.sigma_ns;
  knot.hard_lo_ns = error.hard_lo_ns;
  knot.hard_hi_ns = error.hard_hi_ns;
  return knot;
}

// Beyond a jump behind which, or before which, nobody compared clocks nothing is known.
ClockKnot lost_at(const NodeSolution& era, std::int64_t raw_ns) {
  ClockKnot lost = knot_at(era, raw_ns);
  lost.hard_lo_ns = -kNoLimitNs;
  lost.hard_hi_ns = lost.sigma_ns = kNoLimitNs;
  return lost;
}

void widen(double by_ns, double sigma_ns, ClockKnot* knot) {
  knot->hard_lo_ns = std::max(knot->hard_lo_ns - by_ns, -kNoLimitNs);
  knot->hard_hi_ns = std::min(knot->hard_hi_ns + by_ns, kNoLimitNs);
  knot->sigma_ns = std::hypot(knot->sigma_ns, sigma_ns);
}

// From the last knot of one era to the first of the next. In between the truth is on the line of the one or of the
// other, which are the farthest from the straight way across where the other begins or the one ends.
void bridge(const NodeSolution& one, const NodeSolution& other, ClockKnot before, ClockKnot after,
            std::vector<ClockKnot>* knots) {
  if (after.raw_ns - before.raw_ns <= 2 * kBesideNs) return;
  const auto apart_ns = [&](const ClockKnot& knot) {
    return std::abs(static_cast<double>(reference_raw_ns(one, knot.raw_ns) - reference_raw_ns(other, knot.raw_ns)));
  };
  const double jump_ns = std::max(apart_ns(before), apart_ns(after));
  const double grown_ns =
      std::max(one.drift_bound, other.drift_bound) * static_cast<double>(after.raw_ns - before.raw_ns);
  before.raw_ns += kBesideNs;
  after.raw_ns -= kBesideNs;
  for (ClockKnot* knot : {&before, &after}) widen(jump_ns + grown_ns, jump_ns, knot);
  const double lo_ns = std::min(before.hard_lo_ns, after.hard_lo_ns);
  const double hi_ns = std::max(before.hard_hi_ns, after.hard_hi_ns);
  before.hard_lo_ns = after.hard_lo_ns = lo_ns;
  before.hard_hi_ns = after.hard_hi_ns = hi_ns;
  knots->push_back(before);
  knots->push_back(after);
}

// Knots of an era between the cuts around it, with one right at each; two at least, some way apart.
std::vector<ClockKnot> fit_between(const NodeSolution& era, const NodeCut* before, const NodeCut* behind) {
  std::vector<ClockKnot> knots;
  for (const ClockKnot& knot : era.knots) {
    if (before != nullptr && knot.raw_ns <= before->after_ns + kShortestNs) continue;
    if (behind != nullptr && knot.raw_ns >= behind->before_ns - kShortestNs) continue;
    knots.push_back(knot);
  }
  if (before != nullptr) knots.insert(knots.begin(), knot_at(era, before->after_ns));
  if (behind != nullptr) knots.push_back(knot_at(era, behind->before_ns));
  if (knots.size() == 1) {
    const std::int64_t reach_ns = behind != nullptr ? -round_ns(kReachNs) : round_ns(kReachNs);
    knots.push_back(knot_at(era, knots.front().raw_ns + reach_ns));
    if (reach_ns < 0) std::swap(knots.front(), knots.back());
  }
  return knots;
}

// Both clocks have to rise from knot to knot.
void keep_rising(std::vector<ClockKnot>* knots) {
  std::vector<ClockKnot> kept;
  for (const ClockKnot& knot : *knots) {
    const bool rises = kept.empty() || (knot.raw_ns > kept.back().raw_ns &&
                                        knot.raw_ns + knot.offset_ns > kept.back().raw_ns + kept.back().offset_ns);
    if (rises) kept.push_back(knot);
  }
  *knots = std::move(kept);
}

void set_frequencies(double alone, std::vector<ClockKnot>* knots) {
  for (std::size_t i = 0; i < knots->size(); ++i) {
    const ClockKnot& from = (*knots)[i > 0 ? i - 1 : 0];
    const ClockKnot& to = (*knots)[std::min(i + 1, knots->size() - 1)];
    (*knots)[i].frequency = from.raw_ns == to.raw_ns ? alone
                                                     : static_cast<double>(to.offset_ns - from.offset_ns) /
                                                           static_cast<double>(to.raw_ns - from.raw_ns);
  }
}

}  // namespace

std::vector<ClockKnot> node_knots(const SolvedEras& solved, std::uint32_t node, const std::vector<NodeCut>& own_cuts) {
  const std::uint32_t first = solved.eras->first[node];
  std::vector<NodeCut> cuts = own_cuts;
  for (NodeCut& cut : cuts) {
    // A clock that jumped back shows some times twice.
    const std::int64_t twice_ns = std::max<std::int64_t>(0, -round_ns(cut.size_ns));
    cut.before_ns = hold_ns(cut.before_ns - twice_ns);
    cut.after_ns = hold_ns(cut.after_ns + twice_ns);
  }
  std::vector<ClockKnot> knots;
  double frequency = 0;
  NodeSolution last;                   // era that is known
  const NodeCut* lost_from = nullptr;  // the first cut since
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const auto era = first + static_cast<std::uint32_t>(i);
    const EraTrack& track = solved.model->eras[era];
    if (i > 0 && lost_from == nullptr) lost_from = &cuts[i - 1];
    std::vector<ClockKnot> on_track = era_knots(solved, era);
    if (on_track.empty()) continue;
    frequency = (*solved.clocks)[era].rate - 1;
    NodeSolution model = era_model(std::move(on_track), frequency, track.drift);
    const NodeCut* before = i > 0 ? &cuts[i - 1] : nullptr;
    const NodeCut* behind = i < cuts.size() ? &cuts[i] : nullptr;
    const std::vector<ClockKnot> own = fit_between(model, before, behind);
    if (!knots.empty()) {
      bridge(last, model, ClockKnot(knots.back()), own.front(), &knots);
    } else if (before != nullptr) {
      knots.push_back(lost_at(model, before->before_ns));
    }
    knots.insert(knots.end(), own.begin(), own.end());
    last = std::move(model);
    lost_from = nullptr;
  }
  if (lost_from != nullptr && !knots.empty()) {
    knots.push_back(lost_at(last, std::max(lost_from->after_ns, knots.back().raw_ns + kShortestNs)));
  }
  keep_rising(&knots);
  set_frequencies(frequency, &knots);
  return knots;
}

}  // namespace jaxprof::clock
