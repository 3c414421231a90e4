// The models of a node's eras as one list of knots by its own clock. Between two eras the clock jumped, nobody knows
// when; from the last instant before to the first behind the model goes straight across, and the hard interval is wide
// enough for a jump at any time between.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/clock_solution.h"
#include "merge/clock/era_model.h"
#include "merge/clock/eras.h"
#include "merge/clock/hard_bounds.h"

namespace jaxprof::clock {

// What is known of the whole run.
struct SolvedEras {
  const Eras* eras = nullptr;
  const std::vector<CoarseClock>* clocks = nullptr;
  const EraModel* model = nullptr;
  const HardBounds* bounds = nullptr;
  std::int64_t reference_ns = 0;  // the reference's clock where the axis begins
};

// `cuts` are the node's own, by time. Empty if none of its eras is known.
std::vector<ClockKnot> node_knots(const SolvedEras& solved, std::uint32_t node, const std::vector<NodeCut>& cuts);

}  // namespace jaxprof::clock
