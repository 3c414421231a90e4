#include "merge/clock/interval_graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

constexpr double kUnbounded = std::numeric_limits<double>::infinity();

TEST(IntervalGraph, APathAddsUpAndASecondOneTightens) {
  IntervalGraph graph({true, false, false}, {{0, 1}, {1, 2}, {0, 2}});
  graph.solve(std::vector<Interval>{{-10, 20}, {-1, 2}, {-100, 5}});
  EXPECT_NEAR(graph.bounds()[1].lo, -10, 0.01);
  EXPECT_NEAR(graph.bounds()[1].hi, 6, 0.01);  // 5 by way of 2, and 1 back
  EXPECT_NEAR(graph.bounds()[2].lo, -11, 0.01);
  EXPECT_NEAR(graph.bounds()[2].hi, 5, 0.01);
  EXPECT_TRUE(graph.liars().empty());
}

TEST(IntervalGraph, IsUnboundedWhereNothingIsSaid) {
  IntervalGraph graph({true, false, false}, {{0, 1}, {1, 2}});
  graph.solve(std::vector<Interval>{{-10, kUnbounded}, {-kUnbounded, kUnbounded}});
  EXPECT_NEAR(graph.bounds()[1].lo, -10, 0.01);
  EXPECT_EQ(graph.bounds()[1].hi, kUnbounded);
  EXPECT_EQ(graph.bounds()[2].hi, kUnbounded);
}

// All pairs' shortest distances, the slow way.
std::vector<Interval> brute_force(std::size_t clocks, const std::vector<GraphEdge>& edges,
                                  const std::vector<Interval>& intervals) {
  std::vector<std::vector<double>> distance(clocks, std::vector<double>(clocks, kUnbounded));
  for (std::size_t i = 0; i < clocks; ++i) distance[i][i] = 0;
  for (std::size_t e = 0; e < edges.size(); ++e) {
    double& forward = distance[edges[e].a][edges[e].b];
    double& back = distance[edges[e].b][edges[e].a];
    forward = std::min(forward, intervals[e].hi);
    back = std::min(back, -intervals[e].lo);
  }
  for (std::size_t k = 0; k < clocks; ++k) {
    for (std::size_t i = 0; i < clocks; ++i) {
      for (std::size_t j = 0; j < clocks; ++j) {
        distance[i][j] = std::min(distance[i][j], distance[i][k] + distance[k][j]);
      }
    }
  }
  std::vector<Interval> bounds;
  for (std::size_t i = 0; i < clocks; ++i) bounds.push_back({-distance[i][0], distance[0][i]});
  return bounds;
}

TEST(IntervalGraph, AgreesWithAllPairsShortestPathsOnRandomGraphs) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    test::SimRandom random(seed);
    const std::size_t clocks = 3 + random.next() % 12;
    std::vector<double> truths(clocks, 0);
    for (std::size_t i = 1; i < clocks; ++i) truths[i] = random.uniform(-1000, 1000);
    std::vector<GraphEdge> edges;
    std::vector<Interval> intervals;
    for (std::size_t i = 0; i < 3 * clocks; ++i) {
      const auto a = static_cast<std::uint32_t>(random.next() % clocks);
      const auto b = static_cast<std::uint32_t>(random.next() % clocks);
      if (a == b) continue;
      edges.push_back({a, b});
      const double truth = truths[b] - truths[a];
      intervals.push_back({truth - random.exponential(100), truth + random.exponential(100)});
    }
    std::vector<bool> is_fixed(clocks, false);
    is_fixed[0] = true;
    IntervalGraph graph(is_fixed, edges);
    graph.solve(intervals);
    EXPECT_TRUE(graph.liars().empty());
    const std::vector<Interval> expected = brute_force(clocks, edges, intervals);
    for (std::size_t i = 0; i < clocks; ++i) {
      if (expected[i].hi == kUnbounded) {
        EXPECT_EQ(graph.bounds()[i].hi, kUnbounded);
        continue;
      }
      EXPECT_NEAR(graph.bounds()[i].hi, expected[i].hi, 0.1);
      EXPECT_NEAR(graph.bounds()[i].lo, expected[i].lo, 0.1);
      EXPECT_LE(graph.bounds()[i].lo, truths[i] + 0.1);
      EXPECT_GE(graph.bounds()[i].hi, truths[i] - 0.1);
    }
  }
}

TEST(IntervalGraph, TakesOutTheIntervalThatTheModelContradictsMost) {
  // The model says 0 everywhere; edge 2 says 100 and closes a loop with the others, which does not go by the fixed one.
  IntervalGraph graph({true, false, false, false}, {{0, 1}, {1, 2}, {2, 3}, {1, 3}});
  graph.solve(std::vector<Interval>{{-5, 5}, {-5, 5}, {90, 110}, {-5, 5}});
  EXPECT_EQ(graph.liars(), std::vector<std::uint32_t>{2});
  EXPECT_NEAR(graph.bounds()[3].hi, 10, 0.01);
}

TEST(IntervalGraph, FindsALieOnALoopThroughTwoFixedClocks) {
  IntervalGraph graph({true, true, false}, {{0, 2}, {2, 1}});
  graph.solve(std::vector<Interval>{{-5, 5}, {90, 110}});
  EXPECT_EQ(graph.liars(), std::vector<std::uint32_t>{1});
  EXPECT_NEAR(graph.bounds()[2].hi, 5, 0.01);
}

TEST(IntervalGraph, TakesOutEveryEdgeOfAClockThatContradictsAll) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    test::SimRandom random(seed);
    std::vector<GraphEdge> edges;
    std::vector<Interval> intervals;
    std::vector<bool> is_lie;
    for (std::uint32_t i = 1; i < 20; ++i) {
      for (const std::uint32_t other : {0U, 1 + static_cast<std::uint32_t>(random.next() % 19), i % 19 + 1}) {
        if (other == i) continue;
        edges.push_back({other, i});
        is_lie.push_back(i == 7 || other == 7);
        const double shift = is_lie.back() ? random.uniform(500, 5000) * (random.chance(0.5) ? 1 : -1) : 0;
        intervals.push_back({shift - 10, shift + 10});
      }
    }
    std::vector<bool> is_fixed(20, false);
    is_fixed[0] = true;
    IntervalGraph graph(is_fixed, edges);
    graph.solve(intervals);
    EXPECT_FALSE(graph.liars().empty());
    for (const std::uint32_t liar : graph.liars()) EXPECT_TRUE(is_lie[liar]);
    for (std::size_t i = 0; i < 20; ++i) {
      if (i == 7) continue;
      EXPECT_LE(graph.bounds()[i].lo, 0);
      EXPECT_GE(graph.bounds()[i].hi, 0);
    }
  }
}

}  // namespace
}  // namespace jaxprof::clock
