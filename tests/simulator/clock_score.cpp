#include "tests/simulator/clock_score.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::test {

void feed(const SimCluster& cluster, clock::ClockSolver* solver) {
  std::vector<spool::ClockReading> readings;
  for (std::uint32_t node = 0; node < cluster.options().nodes; ++node) {
    cluster.readings(node, &readings);
    solver->set_readings(node, readings);
  }
  for (const SimFaults::OfNode& change : cluster.options().faults.source_changes) {
    solver->note_clock_source_change(change.node, cluster.raw_ns(change.node, change.jump.at_ns));
  }
  for (std::size_t link = 0; link < cluster.links().size(); ++link) {
    const auto [client, server] = cluster.links()[link];
    cluster.bursts(
        link, [&, from = client, to = server](const spool::ProbeBurst& burst) { solver->add_burst(from, to, burst); });
  }
}

clock::ClockSolution solve(const SimCluster& cluster) {
  clock::ClockSolver solver(cluster.options().nodes);
  feed(cluster, &solver);
  return solver.solve(cluster.options().reference);
}

std::int64_t error_ns(const SimCluster& cluster, const clock::ClockSolution& solution, std::uint32_t node,
                      std::int64_t true_ns) {
  return cluster.raw_ns(solution.reference, true_ns) -
         clock::reference_raw_ns(solution.nodes[node], cluster.raw_ns(node, true_ns));
}

ClockScore score(const SimCluster& cluster, const clock::ClockSolution& solution, const ScoreOptions& options) {
  constexpr double kRoundingNs = 2;  // clocks and models are whole nanoseconds
  ClockScore result;
  std::vector<double> errors;
  double square_sum = 0;
  std::uint64_t within = 0;
  const std::int64_t end_ns = options.to_ns < 0 ? cluster.options().length_ns : options.to_ns;
  for (std::uint32_t node = 0; node < cluster.options().nodes; ++node) {
    const clock::NodeSolution& of = solution.nodes[node];
    if (node == solution.reference || of.knots.empty()) continue;
    if (std::find(options.without.begin(), options.without.end(), node) != options.without.end()) continue;
    for (std::int64_t at_ns = options.from_ns; at_ns <= end_ns; at_ns += options.step_ns) {
      const auto error = static_cast<double>(error_ns(cluster, solution, node, at_ns));
      const clock::ClockError bound = clock::error_at(of, cluster.raw_ns(node, at_ns));
      if (error < bound.hard_lo_ns - kRoundingNs || error > bound.hard_hi_ns + kRoundingNs) ++result.outside_hard;
      if (std::abs(error) <= 3 * bound.sigma_ns + kRoundingNs) ++within;
      const double half_ns = (bound.hard_hi_ns - bound.hard_lo_ns) / 2;
      result.widest_hard_ns = std::max(result.widest_hard_ns, half_ns);
      result.mean_hard_ns += half_ns;
      result.mean_sigma_ns += bound.sigma_ns;
      square_sum += error * error;
      errors.push_back(std::abs(error));
    }
  }
  if (errors.empty()) return result;
  const auto samples = static_cast<double>(errors.size());
  std::sort(errors.begin(), errors.end());
  result.samples = errors.size();
  result.rms_ns = std::sqrt(square_sum / samples);
  result.p99_ns = errors[static_cast<std::size_t>(0.99 * (samples - 1))];
  result.max_ns = errors.back();
  result.three_sigma_share = static_cast<double>(within) / samples;
  result.mean_hard_ns /= samples;
  result.mean_sigma_ns /= samples;
  return result;
}

}  // namespace jaxprof::test
