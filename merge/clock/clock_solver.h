// From raw stamps to the clocks of a run. Probes come in burst by burst and shrink to an interval each at once, so that
// memory goes with bursts and not with packets; solve() then makes one smooth line of each link, puts the links
// together robustly, and tightens the hard intervals by each other. Values in, values out: no files, no clocks, and the
// same result for the same input. The simulator under tests feeds it as the merge does. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "agent/spool/clock_codec.h"
#include "merge/clock/clock_solution.h"

namespace jaxprof::clock {

class ClockSolver {
 public:
  // A node is one boot of an operating system; `node_count` of them, numbered from 0.
  explicit ClockSolver(std::uint32_t node_count);
  ~ClockSolver();
  ClockSolver(ClockSolver&&) noexcept;
  ClockSolver& operator=(ClockSolver&&) noexcept;

  // All readings of a node, of all its observers, in any order; strange ones are left out. To be called for a node
  // before any burst that it takes part in.
  void set_readings(std::uint32_t node, std::span<const spool::ClockReading> readings);
  // The kernel took another clock source between the readings before and after `raw_ns`.
  void note_clock_source_change(std::uint32_t node, std::int64_t raw_ns);
  // A burst that `client` made; its own `peer` is not looked at. Damaged, contradictory and useless ones are counted.
  void add_burst(std::uint32_t client, std::uint32_t server, const spool::ProbeBurst& burst);

  // `reference` < node_count. Nodes without probes to it get no knots.
  ClockSolution solve(std::uint32_t reference) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace jaxprof::clock
