#include "merge/clock/interval_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jaxprof::clock {
namespace {

constexpr std::uint32_t kNone = UINT32_MAX;
constexpr double kUnbounded = std::numeric_limits<double>::infinity();
constexpr double kSlackNs = 1e-3;   // of sums of doubles
constexpr int kFirstLoopCheck = 8;  // passes: most graphs are done by then

}  // namespace

IntervalGraph::IntervalGraph(std::vector<bool> is_fixed, std::vector<GraphEdge> edges)
    : is_fixed_(std::move(is_fixed)), edges_(std::move(edges)) {
  bounds_.resize(is_fixed_.size());
}

// Any clock on a loop of arcs that tightened each other; kNone if there is none.
std::uint32_t IntervalGraph::loop_clock() const {
  std::vector<std::uint32_t> seen(arc_to_.size(), kNone);
  for (std::uint32_t start = 0; start < arc_to_.size(); ++start) {
    std::uint32_t clock = start;
    while (seen[clock] == kNone && arc_to_[clock] != kNone) {
      seen[clock] = start;
      clock = arcs_[arc_to_[clock]].from;
    }
    if (arc_to_[clock] != kNone && seen[clock] == start) return clock;
  }
  return kNone;
}

// Least distances from the fixed clocks; false if a loop of negative length was found.
bool IntervalGraph::relax(std::vector<double>* distances, std::uint32_t* on_loop) {
  distances->assign(is_fixed_.size(), kUnbounded);
  arc_to_.assign(is_fixed_.size(), kNone);
  for (std::size_t i = 0; i < is_fixed_.size(); ++i) {
    if (is_fixed_[i]) (*distances)[i] = 0;
  }
  for (int pass = 0;; ++pass) {
    bool is_changed = false;
    for (std::uint32_t i = 0; i < arcs_.size(); ++i) {
      const Arc& arc = arcs_[i];
      const double through = (*distances)[arc.from] + arc.length;
      if (!(through < (*distances)[arc.to] - kSlackNs)) continue;  // what is no number tells nothing
      (*distances)[arc.to] = through;
      arc_to_[arc.to] = i;
      is_changed = true;
      // All fixed clocks are one: tightening any of them closes a loop through it, unless there is another by now.
      if (is_fixed_[arc.to]) {
        const std::uint32_t other = loop_clock();
        *on_loop = other != kNone ? other : arc.to;
        return false;
      }
    }
    if (!is_changed) return true;
    if (pass >= kFirstLoopCheck && (*on_loop = loop_clock()) != kNone) return false;
  }
}

// The edge to take out; kNone once all fit.
std::uint32_t IntervalGraph::find_liar(std::span<const Interval> intervals) {
  for (const bool is_upper : {true, false}) {
    arcs_.clear();
    for (std::uint32_t e = 0; e < edges_.size(); ++e) {
      if (is_out_[e]) continue;
      const auto [a, b] = edges_[e];
      const Interval& interval = intervals[e];
      // Lower bounds are upper ones of what is turned over.
      const double forward = is_upper ? interval.hi : -interval.lo;
      const double back = is_upper ? -interval.lo : interval.hi;
      if (forward < kUnbounded) arcs_.push_back({a, b, e, forward});
      if (back < kUnbounded) arcs_.push_back({b, a, e, back});
    }
    std::uint32_t on_loop = kNone;
    if (relax(is_upper ? &uppers_ : &lowers_, &on_loop)) continue;
    std::uint32_t liar = kNone;
    double most_ns = -1;
    std::uint32_t clock = on_loop;
    do {
      const Arc& arc = arcs_[arc_to_[clock]];
      const double off_ns = std::max({intervals[arc.edge].lo, -intervals[arc.edge].hi, 0.0});
      if (off_ns > most_ns || (off_ns == most_ns && arc.edge < liar)) {
        most_ns = off_ns;
        liar = arc.edge;
      }
      clock = arc.from;
      // Behind a fixed clock the loop closes at the one where it was found: they are one.
    } while (clock != on_loop && arc_to_[clock] != kNone);
    return liar;
  }
  return kNone;
}

void IntervalGraph::solve(std::span<const Interval> intervals) {
  is_out_.assign(edges_.size(), false);
  liars_.clear();
  for (std::uint32_t e = 0; e < edges_.size(); ++e) {
    if (intervals[e].lo <= intervals[e].hi) continue;
    is_out_[e] = true;
    liars_.push_back(e);
  }
  for (std::uint32_t liar = find_liar(intervals); liar != kNone; liar = find_liar(intervals)) {
    is_out_[liar] = true;
    liars_.push_back(liar);
  }
  for (std::size_t i = 0; i < bounds_.size(); ++i) bounds_[i] = {-lowers_[i], uppers_[i]};
}

}  // namespace jaxprof::clock
