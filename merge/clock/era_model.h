// The likely course of every clock against the axis, as what its straight line leaves over, at instants some seconds
// apart; between them it is linear, and beyond an era's ends its last line goes on. Made from each link's smoothed
// difference and the graph of links, instant by instant.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/coarse_clock.h"

namespace jaxprof::clock {

// Equally spaced instants on the axis, at least two.
struct Epochs {
  double first_ns = 0;
  double spacing_ns = 1;
  std::uint32_t count = 2;
  double at(std::uint32_t epoch) const { return first_ns + spacing_ns * epoch; }
};

// Where an era's clock stood against its line: how much it is ahead on the axis.
struct EraTrack {
  std::uint32_t first = 0;  // epoch
  std::vector<double> offsets_ns;
  std::vector<float> sigmas_ns;
  double drift = 0;  // how fast the truth may leave the track, ns per ns

  bool is_known() const { return !offsets_ns.empty(); }
  std::uint32_t last() const { return first + static_cast<std::uint32_t>(offsets_ns.size()) - 1; }
  double offset_at(const Epochs& epochs, double axis_ns) const;
};

// How an edge compares with the solution.
struct EdgeTrack {
  double residual_ns = 0;      // median over the epochs at which it is known well
  double residual_max_ns = 0;  // the largest, without its sign
  double rate = 0;             // of b's clock against a's, ns per ns of a's
};

struct EraModel {
  Epochs epochs;
  std::vector<EraTrack> eras;
  std::vector<EdgeTrack> edges;
  double loop_residual_p50_ns = 0;
  double loop_residual_p99_ns = 0;
  double loop_residual_max_ns = 0;
};

// A burst's bound as seen on the axis: at `axis_ns` b's clock was ahead of a's by at most or at least `difference_ns`.
struct AxisBound {
  double axis_ns = 0;
  double difference_ns = 0;
};
inline AxisBound on_axis(const CoarseClock& a, const CoarseClock& b, const LinkBurst& burst,
                         const EnvelopePoint& point) {
  // Whole nanoseconds first: the clocks' own numbers are too long for a double.
  const double a_ns = a.axis(burst.a_ns) + a.rate * static_cast<double>(point.after_ns);
  const double b_ns = b.axis(burst.a_ns + burst.base_ns) +
                      b.rate * (static_cast<double>(point.after_ns) + static_cast<double>(point.difference_ns));
  return {a_ns, b_ns - a_ns};
}

// Edges between unknown clocks are left out. `is_fixed`: the reference's eras.
EraModel fit_model(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                   const std::vector<CoarseClock>& clocks, const std::vector<bool>& is_fixed);

}  // namespace jaxprof::clock
