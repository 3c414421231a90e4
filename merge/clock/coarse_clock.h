// A straight line from a node's clock to the axis of the solution, for as long as the clock runs undisturbed: an era.
// With it the stamps of all nodes become times on one axis, and differences between nodes become small numbers that
// change slowly: what the lines leave over, which the models are made of. The axis is the reference's clock, counted
// from an instant of the run.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/link_line.h"
#include "merge/clock/probe_link.h"

namespace jaxprof::clock {

struct CoarseClock {
  std::int64_t raw_ns = 0;  // when the node's clock read this
  double axis_ns = 0;       // it was that on the axis
  double rate = 1;          // ns on the axis per ns of the clock
  bool is_known = false;
  double axis(std::int64_t node_ns) const { return axis_ns + rate * static_cast<double>(node_ns - raw_ns); }
  // The inverse, as ns after raw_ns.
  double after_raw(double on_axis_ns) const { return (on_axis_ns - axis_ns) / rate; }
};

// Bursts of a link in which both clocks were undisturbed. `a` and `b` are eras, numbered over all nodes.
struct Edge {
  std::uint32_t link = 0;
  std::uint32_t a = 0;
  std::uint32_t b = 0;
  std::vector<std::uint32_t> bursts;  // of the link, by time
};

// Lines for all eras that edges connect with a known one of `clocks`, along the best edges first: those whose rate is
// known, and the narrowest.
void fit_coarse_clocks(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                       std::vector<CoarseClock>* clocks);

}  // namespace jaxprof::clock
