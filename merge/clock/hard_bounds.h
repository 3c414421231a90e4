// What must be true of every clock's course, as limits around the likely one. Each packet bounds two clocks' difference
// at an instant; away from it the bound widens as fast as the truth may leave the model. So every link has an interval
// at every epoch, made of all its packets, and the intervals of all links tighten each other. Where they cannot all be
// true the ones that the model contradicts most are left out, and counted.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/era_model.h"
#include "merge/clock/interval_graph.h"

namespace jaxprof::clock {

struct HardBounds {
  // By era and epoch of its track: of the truth less the track, at that epoch.
  std::vector<std::vector<Interval>> eras;
  std::vector<bool> is_contradicted;                   // by era: at some epoch most of its links had to be left out
  std::uint64_t contradictions = 0;                    // epochs at which links had to be left out
  std::vector<std::vector<std::uint32_t>> bad_bursts;  // by edge: of its link, that contradict the rest of it
};

HardBounds find_bounds(const std::vector<ProbeLink>& links, const std::vector<Edge>& edges,
                       const std::vector<CoarseClock>& clocks, const std::vector<bool>& is_fixed,
                       const EraModel& model);

}  // namespace jaxprof::clock
