// What holds of the solver whatever the run is like.
#include "merge/clock/clock_solver.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include "tests/simulator/clock_score.h"

namespace jaxprof::clock {
namespace {

using test::kSimSecondNs;
using test::SimCluster;
using test::SimOptions;

struct Fed {
  std::uint32_t client;
  std::uint32_t server;
  spool::ProbeBurst burst;
};

std::vector<Fed> all_bursts(const SimCluster& cluster) {
  std::vector<Fed> bursts;
  for (std::size_t link = 0; link < cluster.links().size(); ++link) {
    const auto [client, server] = cluster.links()[link];
    cluster.bursts(link, [&, from = client, to = server](const spool::ProbeBurst& burst) {
      bursts.push_back({from, to, burst});
    });
  }
  return bursts;
}

ClockSolution solve(const SimCluster& cluster, const std::vector<Fed>& bursts) {
  ClockSolver solver(cluster.options().nodes);
  std::vector<spool::ClockReading> readings;
  for (std::uint32_t node = 0; node < cluster.options().nodes; ++node) {
    cluster.readings(node, &readings);
    solver.set_readings(node, readings);
  }
  for (const Fed& fed : bursts) solver.add_burst(fed.client, fed.server, fed.burst);
  return solver.solve(cluster.options().reference);
}

auto fields(const ClockKnot& knot) {
  return std::tie(knot.raw_ns, knot.offset_ns, knot.frequency, knot.sigma_ns, knot.hard_lo_ns, knot.hard_hi_ns);
}

SimOptions small_run() {
  SimOptions options;
  options.nodes = 8;
  options.reference = 2;
  options.length_ns = 60 * kSimSecondNs;
  return options;
}

TEST(ClockSolver, GivesTheSameWhateverCameFirst) {
  const SimCluster cluster(small_run());
  std::vector<Fed> bursts = all_bursts(cluster);
  const ClockSolution first = solve(cluster, bursts);
  std::shuffle(bursts.begin(), bursts.end(), std::mt19937(1));
  for (Fed& fed : bursts) std::shuffle(fed.burst.exchanges.begin(), fed.burst.exchanges.end(), std::mt19937(2));
  const ClockSolution second = solve(cluster, bursts);
  for (std::size_t node = 0; node < first.nodes.size(); ++node) {
    ASSERT_EQ(first.nodes[node].knots.size(), second.nodes[node].knots.size());
    for (std::size_t i = 0; i < first.nodes[node].knots.size(); ++i) {
      EXPECT_EQ(fields(first.nodes[node].knots[i]), fields(second.nodes[node].knots[i]));
    }
  }
}

TEST(ClockSolver, AConstantOnANodesClockShiftsItsOffsetAndNothingElse) {
  SimOptions options = small_run();
  const ClockSolution first = test::solve(SimCluster(options));
  for (const std::uint32_t node : {5U, options.reference}) {
    options.faults.shifted_node = node;
    options.faults.clock_shift_ns = 86'400'000'000'001;
    const ClockSolution shifted = test::solve(SimCluster(options));
    for (std::uint32_t i = 0; i < options.nodes; ++i) {
      const std::int64_t raw_ns = i == node ? options.faults.clock_shift_ns : 0;
      std::int64_t offset_ns = i == node ? -options.faults.clock_shift_ns : 0;
      if (node == options.reference) offset_ns += options.faults.clock_shift_ns;
      ASSERT_EQ(first.nodes[i].knots.size(), shifted.nodes[i].knots.size());
      for (std::size_t k = 0; k < first.nodes[i].knots.size(); ++k) {
        ClockKnot expected = first.nodes[i].knots[k];
        expected.raw_ns += raw_ns;
        expected.offset_ns += offset_ns;
        EXPECT_EQ(fields(shifted.nodes[i].knots[k]), fields(expected));
      }
    }
  }
}

TEST(ClockSolver, AnotherReferenceTellsTheSameTimes) {
  SimOptions options = small_run();
  options.network.asymmetry_ns = 0;
  const SimCluster cluster(options);
  const std::vector<Fed> bursts = all_bursts(cluster);
  ClockSolver solver(options.nodes);
  test::feed(cluster, &solver);
  const ClockSolution by_two = solver.solve(2);
  const ClockSolution by_five = solver.solve(5);
  for (std::int64_t at_ns = 3 * kSimSecondNs; at_ns < options.length_ns; at_ns += kSimSecondNs) {
    const std::int64_t five_ns = reference_raw_ns(by_five.nodes[2], cluster.raw_ns(2, at_ns));
    EXPECT_LT(std::abs(five_ns - cluster.raw_ns(5, at_ns)), 1000);
    EXPECT_LT(std::abs(reference_raw_ns(by_two.nodes[5], cluster.raw_ns(5, at_ns)) - cluster.raw_ns(2, at_ns)), 1000);
  }
}

TEST(ClockSolver, ModelsAreMonotoneAndInvertible) {
  const SimCluster cluster(small_run());
  const ClockSolution solution = test::solve(cluster);
  for (const NodeSolution& node : solution.nodes) {
    ASSERT_FALSE(node.knots.empty());
    for (std::size_t i = 0; i + 1 < node.knots.size(); ++i) {
      EXPECT_LT(node.knots[i].raw_ns, node.knots[i + 1].raw_ns);
      EXPECT_LE(node.knots[i].hard_lo_ns, 0);
      EXPECT_GE(node.knots[i].hard_hi_ns, 0);
      EXPECT_LT(std::abs(node.knots[i].frequency), 500e-6);
    }
    for (std::int64_t at_ns = 0; at_ns < 70 * kSimSecondNs; at_ns += 777'777'777) {
      const std::int64_t raw_ns = node.knots.front().raw_ns + at_ns;
      EXPECT_LE(std::abs(node_raw_ns(node, reference_raw_ns(node, raw_ns)) - raw_ns), 1);
    }
  }
}

TEST(ClockSolver, CountsWhatItWasGiven) {
  SimOptions options = small_run();
  options.network.loss = 0.25;
  const SimCluster cluster(options);
  const ClockSolution solution = test::solve(cluster);
  std::uint64_t sent = 0;
  std::uint64_t answered = 0;
  for (const Fed& fed : all_bursts(cluster)) {
    sent += fed.burst.sent;
    answered += fed.burst.exchanges.size();
  }
  std::uint64_t told_sent = 0;
  std::uint64_t told_answered = 0;
  std::uint64_t bursts = 0;
  for (const LinkSolution& link : solution.links) {
    EXPECT_LT(link.a, link.b);
    EXPECT_EQ(link.method, Method::kKernelStamps);
    EXPECT_NEAR(link.floor_rtt_ns, 51e3, 2e3);
    told_sent += link.sent;
    told_answered += link.answered;
    bursts += link.bursts + link.rejected;
  }
  EXPECT_EQ(told_sent, sent);
  EXPECT_EQ(told_answered, answered);
  EXPECT_EQ(bursts, solution.bursts.size());
  std::uint64_t lost = 0;
  for (const NodeSolution& node : solution.nodes) lost += node.lost;
  EXPECT_EQ(lost, 2 * (sent - answered));
  EXPECT_EQ(solution.nodes[options.reference].method, Method::kReference);
  EXPECT_EQ(solution.nodes[0].method, Method::kKernelStamps);
}

TEST(ClockSolver, BurstsAreIntervalsOfTheTruth) {
  const SimCluster cluster(small_run());
  const ClockSolution solution = test::solve(cluster);
  ASSERT_FALSE(solution.bursts.empty());
  for (const BurstInterval& burst : solution.bursts) {
    const LinkSolution& link = solution.links[burst.link];
    // Where a's clock read raw_ns: by bisection, since the truth is given by true time.
    std::int64_t from_ns = 0;
    std::int64_t to_ns = 100 * kSimSecondNs;
    while (to_ns - from_ns > 1) {
      const std::int64_t middle_ns = (from_ns + to_ns) / 2;
      (cluster.raw_ns(link.a, middle_ns) <= burst.raw_ns ? from_ns : to_ns) = middle_ns;
    }
    const std::int64_t truth_ns = cluster.raw_ns(link.b, from_ns) - burst.raw_ns;
    EXPECT_LE(burst.lo_ns, truth_ns + 100);  // a ppm of wobble within the burst
    EXPECT_GE(burst.hi_ns, truth_ns - 100);
    EXPECT_LT(burst.hi_ns - burst.lo_ns, 500'000);
  }
}

TEST(ClockSolver, WithoutProbesOnlyTheReferenceIsKnown) {
  const ClockSolution solution = ClockSolver(3).solve(1);
  ASSERT_EQ(solution.nodes.size(), 3U);
  EXPECT_EQ(solution.nodes[1].method, Method::kReference);
  EXPECT_EQ(reference_raw_ns(solution.nodes[1], 12345), 12345);
  EXPECT_TRUE(solution.nodes[0].knots.empty());
  EXPECT_EQ(solution.nodes[2].method, Method::kWallClockUnknown);
}

TEST(ClockSolver, ANodeThatOnlyPeersReachHasKnotsAllTheSame) {
  const SimCluster cluster(small_run());
  std::vector<Fed> bursts = all_bursts(cluster);
  std::erase_if(bursts, [](const Fed& fed) { return fed.client == 5 && fed.server == 2; });
  const ClockSolution solution = solve(cluster, bursts);
  ASSERT_FALSE(solution.nodes[5].knots.empty());
  const test::ClockScore score = test::score(cluster, solution);
  EXPECT_LT(score.max_ns, 3000);
  EXPECT_EQ(score.outside_hard, 0U);
}

TEST(ClockSolver, IslandsWithoutAPathToTheReferenceHaveNoKnots) {
  const SimCluster cluster(small_run());
  std::vector<Fed> bursts = all_bursts(cluster);
  const auto is_island = [](std::uint32_t node) { return node == 5 || node == 6; };
  std::erase_if(bursts, [&](const Fed& fed) { return is_island(fed.client) != is_island(fed.server); });
  const ClockSolution solution = solve(cluster, bursts);
  EXPECT_TRUE(solution.nodes[5].knots.empty());
  EXPECT_TRUE(solution.nodes[6].knots.empty());
  EXPECT_FALSE(solution.nodes[7].knots.empty());
  EXPECT_EQ(test::score(cluster, solution).outside_hard, 0U);
}

TEST(ClockSolver, SurvivesAnyStamps) {
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    test::SimRandom random(seed);
    const auto any = [&random]() -> std::int64_t {
      switch (random.next() % 5) {
        case 0:
          return static_cast<std::int64_t>(random.next());
        case 1:
          return random.chance(0.5) ? INT64_MAX : INT64_MIN;
        case 2:
          return static_cast<std::int64_t>(random.next() % 1000);
        default:
          return static_cast<std::int64_t>(random.next() % 2'000'000'000'000);
      }
    };
    ClockSolver solver(4);
    for (std::uint32_t node = 0; node < 3; ++node) {
      std::vector<spool::ClockReading> readings;
      for (int i = 0; i < 50; ++i) {
        readings.push_back({any(), any(), any(), static_cast<std::uint32_t>(random.next())});
      }
      solver.set_readings(node, readings);
    }
    solver.note_clock_source_change(1, any());
    for (int i = 0; i < 60; ++i) {
      spool::ProbeBurst burst;
      burst.sent = static_cast<std::uint32_t>(random.next() % 4);
      for (int e = 0; e < 8; ++e) {
        spool::ProbeExchange exchange;
        std::int64_t base_ns = any();
        for (std::int64_t& stamp : exchange.stamps_ns) stamp = any();
        // Some that are near each other, which is what passes the first checks.
        if (random.chance(0.7) && base_ns > 0 && base_ns < INT64_MAX / 2) {
          exchange.at(spool::Stamp::kClientSendRaw) = base_ns;
          exchange.at(spool::Stamp::kClientReceiveRaw) = base_ns + 1000 + any() % 1'000'000;
          base_ns = std::abs(any() / 4);
          exchange.at(spool::Stamp::kServerReceiveRaw) = base_ns;
          exchange.at(spool::Stamp::kServerSendRaw) = base_ns + 1;
        }
        burst.exchanges.push_back(exchange);
      }
      solver.add_burst(static_cast<std::uint32_t>(random.next() % 4), static_cast<std::uint32_t>(random.next() % 4),
                       burst);
    }
    const ClockSolution solution = solver.solve(static_cast<std::uint32_t>(seed % 4));
    for (const NodeSolution& node : solution.nodes) {
      for (std::size_t i = 0; i + 1 < node.knots.size(); ++i) {
        ASSERT_LT(node.knots[i].raw_ns, node.knots[i + 1].raw_ns);
        ASSERT_LT(node.knots[i].raw_ns + node.knots[i].offset_ns,
                  node.knots[i + 1].raw_ns + node.knots[i + 1].offset_ns);
      }
      for (const ClockKnot& knot : node.knots) {
        ASSERT_FALSE(std::isnan(knot.sigma_ns) || std::isnan(knot.frequency));
        ASSERT_LE(knot.hard_lo_ns, 0);
        ASSERT_GE(knot.hard_hi_ns, 0);
      }
    }
  }
}

}  // namespace
}  // namespace jaxprof::clock
