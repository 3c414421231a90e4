// How a solution compares with the simulated truth: errors of all nodes over the run, and how often the truth lay
// outside the hard interval or three sigmas.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/clock/clock_solution.h"
#include "merge/clock/clock_solver.h"
#include "tests/simulator/sim_cluster.h"

namespace jaxprof::test {

// Feeds a whole simulated run to a solver.
clock::ClockSolution solve(const SimCluster& cluster);
void feed(const SimCluster& cluster, clock::ClockSolver* solver);

struct ScoreOptions {
  std::int64_t from_ns = 2 * kSimSecondNs;  // of true time; the first bursts are over by then
  std::int64_t to_ns = -1;                  // -1: the run's end
  std::int64_t step_ns = 1'700'000'000;
  std::vector<std::uint32_t> without = {};  // nodes
};

struct ClockScore {
  double rms_ns = 0;
  double p99_ns = 0;
  double max_ns = 0;
  double three_sigma_share = 0;  // of errors within three sigmas
  std::uint64_t samples = 0;
  std::uint64_t outside_hard = 0;  // times that the hard interval was false
  double widest_hard_ns = 0;       // half of it
  double mean_hard_ns = 0;
  double mean_sigma_ns = 0;
};

// The reference is left out. A node without knots counts as not sampled.
ClockScore score(const SimCluster& cluster, const clock::ClockSolution& solution, const ScoreOptions& options = {});

// The truth less the model: what the reference's clock read when the node's read what it did at `true_ns`.
std::int64_t error_ns(const SimCluster& cluster, const clock::ClockSolution& solution, std::uint32_t node,
                      std::int64_t true_ns);

}  // namespace jaxprof::test
