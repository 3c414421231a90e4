// Whole runs against the simulator's truth: how large errors may be, and that the hard interval is never false. Fixed
// seeds; clocks of ±50 ppm that warm up by 1 ppm, wobble by 0.1 ppm and walk at random.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "merge/clock/causality_audit.h"
#include "tests/simulator/clock_score.h"

namespace jaxprof::clock {
namespace {

using test::ClockScore;
using test::kSimSecondNs;
using test::score;
using test::ScoreOptions;
using test::SimCluster;
using test::SimOptions;
using test::solve;

SimOptions run_of(std::uint32_t nodes, std::int64_t seconds) {
  SimOptions options;
  options.nodes = nodes;
  options.length_ns = seconds * kSimSecondNs;
  return options;
}

void expect_bounds_hold(const ClockScore& result) {
  EXPECT_GT(result.samples, 0U);
  EXPECT_EQ(result.outside_hard, 0U);
  EXPECT_GE(result.three_sigma_share, 0.99);
}

// A link less, for whatever reason, moves a node by its share of what the link's own directions differ by; here by some
// tens of nanoseconds, so that what a fault does can be seen.
SimOptions faulty_run() {
  SimOptions options = run_of(24, 300);
  options.network.asymmetry_ns = 500;
  return options;
}

// The nodes that a fault does not touch are where they were without it.
void expect_others_unmoved(const SimOptions& with, const ClockSolution& solution,
                           const std::vector<std::uint32_t>& touched) {
  SimOptions without = with;
  without.faults = {};
  const SimCluster calm(without);
  const ClockSolution expected = solve(calm);
  for (std::uint32_t node = 0; node < with.nodes; ++node) {
    if (std::find(touched.begin(), touched.end(), node) != touched.end()) continue;
    std::int64_t moved_ns = 0;
    for (std::int64_t at_ns = 2 * kSimSecondNs; at_ns < with.length_ns; at_ns += 3 * kSimSecondNs) {
      const std::int64_t raw_ns = calm.raw_ns(node, at_ns);
      moved_ns = std::max(moved_ns, std::abs(reference_raw_ns(solution.nodes[node], raw_ns) -
                                             reference_raw_ns(expected.nodes[node], raw_ns)));
    }
    EXPECT_LT(moved_ns, 100) << "node " << node;
  }
}

class JitterScenarios : public testing::TestWithParam<double> {};
INSTANTIATE_TEST_SUITE_P(Jitters, JitterScenarios, testing::Values(10e3, 100e3, 1e6));

TEST_P(JitterScenarios, ErrorsAreBelowTwoMicroseconds) {
  SimOptions options = run_of(32, 600);
  options.network.jitter_ns = GetParam();
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  const ClockScore result = score(cluster, solution);
  expect_bounds_hold(result);
  EXPECT_LT(result.rms_ns, 1000);
  EXPECT_LT(result.p99_ns, 2000);
  EXPECT_LT(result.max_ns, 10'000);
  EXPECT_LT(result.mean_hard_ns, 35e3);  // half of the least round trip is 25 µs
  EXPECT_LT(result.mean_sigma_ns, 1000);
  EXPECT_EQ(solution.contradictions, 0U);
  for (const LinkSolution& link : solution.links) EXPECT_FALSE(link.is_flagged);
}

TEST(StarScenario, HoldsWithoutPeersToo) {
  SimOptions options = run_of(32, 600);
  options.peers = 0;
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  const ClockScore result = score(cluster, solution);
  expect_bounds_hold(result);
  EXPECT_LT(result.rms_ns, 1000);
  EXPECT_LT(result.p99_ns, 2000);
  EXPECT_EQ(solution.loop_residual_max_ns, 0);
}

TEST(BadNetworkScenario, BoundsHoldWhereOnePacketInTwentyIsClean) {
  for (const std::uint32_t peers : {4U, 0U}) {
    SimOptions options = run_of(32, 600);
    options.network.jitter_ns = 1e6;
    options.network.clean_share = 0.05;
    options.peers = peers;
    const SimCluster cluster(options);
    const ClockScore result = score(cluster, solve(cluster));
    expect_bounds_hold(result);
    EXPECT_LT(result.p99_ns, 5000);
    EXPECT_LT(result.max_ns, 100e3);
  }
}

TEST(UserStampScenario, IsLessExactAndSaysSo) {
  SimOptions options = run_of(32, 600);
  options.network.has_kernel_stamps = false;
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  const ClockScore result = score(cluster, solution);
  expect_bounds_hold(result);
  EXPECT_LT(result.p99_ns, 5000);
  EXPECT_EQ(solution.nodes[3].method, Method::kUserStamps);
}

TEST(AsymmetryScenario, SkewedLinksAreFlaggedAndMoveNobody) {
  std::size_t skewed = 0;
  std::size_t found = 0;
  std::size_t straight = 0;
  std::size_t false_flags = 0;
  for (const std::uint64_t seed : {1U, 2U}) {
    SimOptions options = run_of(48, 300);
    options.seed = seed;
    options.network.skewed_share = 0.02;
    options.network.skewed_asymmetry_ns = 40e3;
    const SimCluster cluster(options);
    const ClockSolution solution = solve(cluster);
    const ClockScore result = score(cluster, solution);
    expect_bounds_hold(result);
    EXPECT_LT(result.p99_ns, 1500);
    for (const LinkSolution& link : solution.links) {
      const auto is_it = [&link](const auto& nodes) {
        return std::min(nodes.first, nodes.second) == link.a && std::max(nodes.first, nodes.second) == link.b;
      };
      const auto at = std::find_if(cluster.links().begin(), cluster.links().end(), is_it);
      ASSERT_NE(at, cluster.links().end());
      const auto number = static_cast<std::size_t>(at - cluster.links().begin());
      const bool is_skewed = std::abs(cluster.asymmetry_ns(number)) > 10e3;
      ++(is_skewed ? skewed : straight);
      if (link.is_flagged) ++(is_skewed ? found : false_flags);
      if (is_skewed) {
        EXPECT_NEAR(std::abs(link.residual_ns), 20e3, 2e3);
      }
    }
  }
  EXPECT_GT(skewed, 5U);
  EXPECT_GE(static_cast<double>(found), 0.95 * static_cast<double>(skewed));
  EXPECT_LE(static_cast<double>(false_flags), 0.01 * static_cast<double>(straight));
}

TEST(AsymmetryScenario, WhereEveryLinkIsSkewedTheBoundsStillHold) {
  SimOptions options = run_of(32, 300);
  options.network.asymmetry_ns = 10e3;
  const SimCluster cluster(options);
  const ClockScore result = score(cluster, solve(cluster));
  expect_bounds_hold(result);
  EXPECT_LT(result.max_ns, 6000);
}

TEST(FaultScenario, AJumpingClockIsFoundCutAndLeavesTheOthersAlone) {
  for (const double size_ns : {500e3, 2e9, -3e9}) {
    SimOptions options = faulty_run();
    options.faults.jumps = {{7, {150 * kSimSecondNs, size_ns, 0}}};
    const SimCluster cluster(options);
    const ClockSolution solution = solve(cluster);
    ASSERT_EQ(solution.steps.size(), 1U);
    EXPECT_EQ(solution.steps[0].node, 7U);
    EXPECT_EQ(solution.steps[0].kind, StepKind::kRawJump);
    EXPECT_NEAR(static_cast<double>(solution.steps[0].size_ns), size_ns, 100e3);
    EXPECT_EQ(score(cluster, solution).outside_hard, 0U);
    // Away from the jump it is as good as any.
    const ClockScore before = score(cluster, solution, {.to_ns = 130 * kSimSecondNs});
    const ClockScore after = score(cluster, solution, {.from_ns = 170 * kSimSecondNs});
    for (const ClockScore& part : {before, after}) EXPECT_LT(part.p99_ns, 2000);
    expect_others_unmoved(options, solution, {7});
    EXPECT_FALSE(solution.nodes[7].is_contradicted);
  }
}

TEST(FaultScenario, AJumpOfTheReferenceIsFoundToo) {
  SimOptions options = faulty_run();
  options.faults.jumps = {{0, {150 * kSimSecondNs, 500e3, 0}}};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  ASSERT_EQ(solution.steps.size(), 1U);
  EXPECT_EQ(solution.steps[0].node, 0U);
  EXPECT_EQ(score(cluster, solution).outside_hard, 0U);
  EXPECT_LT(score(cluster, solution, {.from_ns = 170 * kSimSecondNs}).p99_ns, 2000);
}

TEST(FaultScenario, AnotherClockSourceBeginsAnEra) {
  SimOptions options = faulty_run();
  options.faults.source_changes = {{7, {150 * kSimSecondNs, 0, 40}}, {9, {100 * kSimSecondNs, 30e3, -60}}};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  ASSERT_EQ(solution.steps.size(), 2U);
  for (const ClockStep& step : solution.steps) EXPECT_EQ(step.kind, StepKind::kClockSource);
  EXPECT_EQ(score(cluster, solution).outside_hard, 0U);
  EXPECT_LT(score(cluster, solution).p99_ns, 2000);
  expect_others_unmoved(options, solution, {7, 9});
}

TEST(FaultScenario, ANewRateThatNobodyToldOfWidensTheBound) {
  SimOptions options = faulty_run();
  options.faults.jumps = {{7, {150 * kSimSecondNs, 0, 20}}};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  EXPECT_EQ(score(cluster, solution).outside_hard, 0U);
  EXPECT_GT(solution.nodes[7].drift_bound, 0.9e-6);
  EXPECT_LT(solution.nodes[8].drift_bound, 0.6e-6);
  expect_others_unmoved(options, solution, {7});
}

TEST(FaultScenario, AWallClockThatIsSetOrSlewedMovesNothing) {
  SimOptions options = faulty_run();
  options.faults.wall_events = {{7, {150 * kSimSecondNs, 500e3, 0, 0}},
                                {9, {100 * kSimSecondNs, 0, 500, 10 * kSimSecondNs}},
                                {11, {200 * kSimSecondNs, -3600e9, 0, 0}}};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  ASSERT_EQ(solution.steps.size(), 2U);
  EXPECT_EQ(solution.steps[0].node, 7U);
  EXPECT_EQ(solution.steps[0].kind, StepKind::kWallClockSet);
  EXPECT_NEAR(static_cast<double>(solution.steps[0].size_ns), 500e3, 2e3);
  EXPECT_EQ(solution.steps[1].node, 11U);
  expect_bounds_hold(score(cluster, solution));
  expect_others_unmoved(options, solution, {});
}

TEST(FaultScenario, NodesMayBeMissingComeLateOrLeave) {
  SimOptions options = faulty_run();
  options.faults.silent = {3};
  options.faults.absent = {{5, 100 * kSimSecondNs, 180 * kSimSecondNs},
                           {6, 0, 120 * kSimSecondNs},
                           {8, 150 * kSimSecondNs, 301 * kSimSecondNs}};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  EXPECT_TRUE(solution.nodes[3].knots.empty());
  EXPECT_EQ(solution.nodes[3].method, Method::kWallClockUnknown);
  EXPECT_GT(solution.nodes[3].lost, 0U);
  // Also where the absent ones are extrapolated.
  EXPECT_EQ(score(cluster, solution).outside_hard, 0U);
  ScoreOptions present;
  present.without = {5, 6, 8};
  expect_bounds_hold(score(cluster, solution, present));
  EXPECT_LT(score(cluster, solution, present).p99_ns, 2000);
}

TEST(FaultScenario, LossLateRepliesAndMissingStampsCostLittle) {
  SimOptions options = run_of(32, 300);
  options.network.loss = 0.3;
  options.network.late = 0.05;
  options.network.missing_stamps = 0.03;
  const SimCluster cluster(options);
  const ClockScore result = score(cluster, solve(cluster));
  expect_bounds_hold(result);
  EXPECT_LT(result.p99_ns, 2000);
}

TEST(FaultScenario, AClockThatContradictsAllOthersIsNamedAndMovesNobody) {
  SimOptions options = faulty_run();
  options.faults.liars = {4};
  const SimCluster cluster(options);
  const ClockSolution solution = solve(cluster);
  EXPECT_GT(solution.contradictions, 0U);
  for (std::uint32_t node = 0; node < options.nodes; ++node) {
    EXPECT_EQ(solution.nodes[node].is_contradicted, node == 4) << node;
  }
  ScoreOptions others;
  others.without = {4};
  expect_bounds_hold(score(cluster, solution, others));
  expect_others_unmoved(options, solution, {4});
}

class LengthScenarios : public testing::TestWithParam<std::pair<std::int64_t, std::uint32_t>> {};
INSTANTIATE_TEST_SUITE_P(Lengths, LengthScenarios,
                         testing::Values(std::pair(10, 32), std::pair(60, 32), std::pair(1800, 12),
                                         std::pair(6 * 3600, 3)));

TEST_P(LengthScenarios, ErrorsDoNotGrowWithTheRun) {
  const auto [seconds, nodes] = GetParam();
  const SimCluster cluster(run_of(nodes, seconds));
  const ClockSolution solution = solve(cluster);
  const ClockScore result = score(cluster, solution);
  expect_bounds_hold(result);
  EXPECT_LT(result.p99_ns, 2000);
  // Beyond the ends as well, where the bound grows.
  ScoreOptions beyond;
  beyond.from_ns = 0;
  beyond.to_ns = cluster.options().length_ns + 60 * kSimSecondNs;
  EXPECT_EQ(score(cluster, solution, beyond).outside_hard, 0U);
}

TEST(LengthScenario, ARunThatIsKilledEarlyHasWideBoundsThatHold) {
  for (const std::int64_t seconds : {1, 5, 10, 25}) {
    SimOptions options = run_of(32, seconds);
    options.has_end_bursts = false;
    const SimCluster cluster(options);
    const ClockSolution solution = solve(cluster);
    ScoreOptions all;
    all.from_ns = 0;
    all.step_ns = 300'000'000;
    const ClockScore result = score(cluster, solution, all);
    EXPECT_EQ(result.outside_hard, 0U);
    EXPECT_GT(result.samples, 0U);
  }
}

// Runs of all kinds, to see whether anything makes the hard interval false. What happens to a clock happens while there
// are bursts on both sides of it: before the first and after the last nobody can see it.
TEST(AnyScenario, TheHardIntervalIsNeverFalse) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::SimRandom random(seed);
    SimOptions options;
    options.seed = seed;
    options.nodes = 2 + static_cast<std::uint32_t>(random.next() % 14);
    options.reference = static_cast<std::uint32_t>(random.next() % options.nodes);
    options.peers = static_cast<std::uint32_t>(random.next() % 5);
    options.length_ns = std::llround(random.uniform(5, 300)) * kSimSecondNs;
    options.has_end_bursts = random.chance(0.6);
    options.network.base_ns = random.chance(0.5) ? random.uniform(300, 3000) : random.uniform(5e3, 100e3);
    options.network.jitter_ns = std::pow(10, random.uniform(3, 6.3));
    options.network.clean_share = random.uniform(0.02, 0.5);
    options.network.asymmetry_ns = random.uniform(0, 0.5) * options.network.base_ns;
    options.network.loss = random.chance(0.3) ? random.uniform(0, 0.5) : 0;
    options.network.late = random.chance(0.3) ? 0.1 : 0;
    options.network.missing_stamps = random.chance(0.3) ? random.uniform(0, 0.3) : 0;
    options.network.has_kernel_stamps = random.chance(0.7);
    const auto node = static_cast<std::uint32_t>(random.next() % options.nodes);
    const std::int64_t at_ns = std::llround(random.uniform(30e9, 260e9));
    const double size_ns = random.uniform(-5e6, 5e6);
    const double rate_ppm = random.uniform(-30, 30);
    const bool is_long = at_ns + 30 * kSimSecondNs < options.length_ns;
    switch (is_long ? random.next() % 6 : 5) {
      case 0:
        options.faults.jumps = {{node, {at_ns, size_ns, random.chance(0.5) ? rate_ppm : 0}}};
        break;
      case 1:
        options.faults.source_changes = {{node, {at_ns, size_ns / 100, 2 * rate_ppm}}};
        break;
      case 2:
        options.faults.wall_events = {{node, {at_ns, size_ns / 5, 16 * rate_ppm, 10 * kSimSecondNs}}};
        break;
      case 3:
        options.faults.absent = {{node, at_ns, at_ns + std::llround(random.uniform(0, 200e9))}};
        break;
      default:
        break;
    }
    const SimCluster cluster(options);
    const ClockSolution solution = solve(cluster);
    ScoreOptions all;
    all.from_ns = 0;
    all.to_ns = options.length_ns + 10 * kSimSecondNs;
    all.step_ns = 331'000'000;
    const ClockScore result = score(cluster, solution, all);
    EXPECT_EQ(result.outside_hard, 0U) << "seed " << seed;
    EXPECT_GT(result.samples, 0U) << "seed " << seed;
  }
}

// Collectives of all nodes: everyone ends some microseconds after the last arrived. Node 5 is late by 30 µs each time.
class CollectivesScenario : public testing::Test {
 protected:
  static constexpr std::int64_t kLateNs = 30'000;
  static constexpr std::uint32_t kLateNode = 5;

  void run(const SimOptions& options) {
    const SimCluster cluster(options);
    const ClockSolution solution = solve(cluster);
    test::SimRandom random(17);
    for (std::int64_t at_ns = 5 * kSimSecondNs; at_ns < options.length_ns; at_ns += 777'777'777) {
      std::vector<AuditMember> members;
      double others_ns = 0;
      std::int64_t late_ns = 0;
      const std::int64_t axis_ns = cluster.raw_ns(0, at_ns);
      for (std::uint32_t node = 0; node < options.nodes; ++node) {
        const std::int64_t start_ns = at_ns + (node == kLateNode ? kLateNs : 0);
        const std::int64_t end_ns = at_ns + kLateNs + 1000 + std::llround(random.uniform(0, 10e3));
        const auto map = [&](std::int64_t true_ns) {
          return reference_raw_ns(solution.nodes[node], cluster.raw_ns(node, true_ns));
        };
        const ClockError error = error_at(solution.nodes[node], cluster.raw_ns(node, at_ns));
        members.push_back({.node = node,
                           .start_ns = map(start_ns),
                           .end_ns = map(end_ns),
                           .clock_error_ns = std::max(-error.hard_lo_ns, error.hard_hi_ns)});
        if (node == kLateNode) {
          late_ns = members.back().start_ns - axis_ns;
        } else {
          others_ns += static_cast<double>(members.back().start_ns - axis_ns) / (options.nodes - 1);
        }
      }
      const double lateness_ns = static_cast<double>(late_ns) - others_ns;
      largest_change_ns_ = std::max(largest_change_ns_, std::abs(lateness_ns - kLateNs));
      audit_.check(members, Dependence::kAll);
    }
  }

  CausalityAudit audit_;
  double largest_change_ns_ = 0;
};

TEST_F(CollectivesScenario, ALateRankStaysAsLateAsItIs) {
  run(run_of(24, 120));
  EXPECT_LT(largest_change_ns_, 1000);
  EXPECT_GT(audit_.instances(), 100U);
  EXPECT_EQ(audit_.violations(), 0U);
}

TEST(CausalityScenario, AnAxisThatIsWrongByHalfAMillisecondRaisesTheAlarm) {
  const SimOptions options = run_of(8, 60);
  const SimCluster cluster(options);
  ClockSolution solution = solve(cluster);
  for (ClockKnot& knot : solution.nodes[3].knots) knot.offset_ns += 500'000;
  CausalityAudit audit;
  const std::int64_t at_ns = 30 * kSimSecondNs;
  std::vector<AuditMember> members;
  for (std::uint32_t node = 0; node < options.nodes; ++node) {
    const ClockError error = error_at(solution.nodes[node], cluster.raw_ns(node, at_ns));
    members.push_back({.node = node,
                       .start_ns = reference_raw_ns(solution.nodes[node], cluster.raw_ns(node, at_ns)),
                       .end_ns = reference_raw_ns(solution.nodes[node], cluster.raw_ns(node, at_ns + 50'000)),
                       .clock_error_ns = std::max(-error.hard_lo_ns, error.hard_hi_ns)});
  }
  audit.check(members, Dependence::kAll);
  EXPECT_EQ(audit.violations(), 7U);
  EXPECT_EQ(audit.worst().late_node, 3U);
}

}  // namespace
}  // namespace jaxprof::clock
