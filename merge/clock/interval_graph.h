// What must be true of clocks' offsets if every link's interval is: difference constraints, tightened along all paths
// from the reference (Bellman and Ford). Intervals that cannot all be true close a loop of negative length; then one of
// that loop's is taken out, the one that the model contradicts the most, and this is told: some clock or stamp lied.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/clock/graph_solver.h"
#include "merge/clock/probe_link.h"

namespace jaxprof::clock {

class IntervalGraph {
 public:
  IntervalGraph(std::vector<bool> is_fixed, std::vector<GraphEdge> edges);

  // `intervals[e]` is of the offset of edge e's b less that of its a, as it lies off the model; unbounded ones say
  // nothing.
  void solve(std::span<const Interval> intervals);

  // By clock; unbounded where nothing is known.
  const std::vector<Interval>& bounds() const { return bounds_; }
  // Edges that had to be taken out in the last solve().
  const std::vector<std::uint32_t>& liars() const { return liars_; }

 private:
  // A way to tighten one clock's bound by another's.
  struct Arc {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::uint32_t edge = 0;
    double length = 0;
  };
  std::uint32_t find_liar(std::span<const Interval> intervals);
  bool relax(std::vector<double>* distances, std::uint32_t* on_loop);
  std::uint32_t loop_clock() const;

  std::vector<bool> is_fixed_;
  std::vector<GraphEdge> edges_;
  std::vector<bool> is_out_;
  std::vector<Arc> arcs_;
  std::vector<std::uint32_t> arc_to_;  // by clock: the arc that tightened it last
  std::vector<double> uppers_;
  std::vector<double> lowers_;
  std::vector<Interval> bounds_;
  std::vector<std::uint32_t> liars_;
};

}  // namespace jaxprof::clock
