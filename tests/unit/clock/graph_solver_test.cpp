#include "merge/clock/graph_solver.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

const double kNothing = std::numeric_limits<double>::quiet_NaN();

// A random graph with clock 0 fixed: every clock has an edge to it and to four others.
struct RandomGraph {
  std::vector<bool> is_fixed;
  std::vector<GraphEdge> edges;
  std::vector<double> truths;
  RandomGraph(std::uint32_t clocks, std::uint64_t seed) : is_fixed(clocks, false), truths(clocks, 0) {
    test::SimRandom random(seed);
    is_fixed[0] = true;
    for (std::uint32_t clock = 1; clock < clocks; ++clock) {
      truths[clock] = random.uniform(-1e6, 1e6);
      edges.push_back({0, clock});
      for (int i = 0; i < 4; ++i) {
        const auto other = static_cast<std::uint32_t>(1 + random.next() % (clocks - 1));
        if (other != clock) edges.push_back({clock, other});
      }
    }
  }
  std::vector<GraphSight> sights() const {
    std::vector<GraphSight> all;
    for (const GraphEdge& edge : edges) all.push_back({truths[edge.b] - truths[edge.a], 300, 100});
    return all;
  }
};

TEST(GraphSolver, FindsTheOffsetsIfAllEdgesAgree) {
  const RandomGraph graph(60, 1);
  GraphSolver solver(graph.is_fixed, graph.edges);
  solver.solve(graph.sights());
  for (std::size_t i = 0; i < graph.truths.size(); ++i) EXPECT_NEAR(solver.offsets_ns()[i], graph.truths[i], 0.1);
  for (const double residual_ns : solver.residuals_ns()) EXPECT_NEAR(residual_ns, 0, 0.2);
}

TEST(GraphSolver, WrongEdgesDoNotMoveAnybodyAndStandOut) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const RandomGraph graph(60, seed);
    std::vector<GraphSight> sights = graph.sights();
    test::SimRandom random(seed + 100);
    std::vector<double> wrong(sights.size(), 0);
    for (std::size_t e = 0; e < sights.size(); ++e) {
      if (random.chance(0.05)) wrong[e] = random.uniform(20e3, 200e3);
      sights[e].difference_ns += wrong[e];
    }
    GraphSolver solver(graph.is_fixed, graph.edges);
    solver.solve(sights);
    for (std::size_t i = 0; i < graph.truths.size(); ++i) EXPECT_NEAR(solver.offsets_ns()[i], graph.truths[i], 20);
    for (std::size_t e = 0; e < sights.size(); ++e) EXPECT_NEAR(solver.residuals_ns()[e], wrong[e], 40);
  }
}

TEST(GraphSolver, AClockThatContradictsAllOthersMovesNone) {
  const RandomGraph graph(60, 4);
  std::vector<GraphSight> sights = graph.sights();
  test::SimRandom random(9);
  for (std::size_t e = 0; e < sights.size(); ++e) sights[e].difference_ns += random.normal(300);
  GraphSolver honest(graph.is_fixed, graph.edges);
  honest.solve(sights);
  for (std::size_t e = 0; e < sights.size(); ++e) {
    if (graph.edges[e].a == 7 || graph.edges[e].b == 7) sights[e].difference_ns += random.uniform(-1e6, 1e6);
  }
  GraphSolver solver(graph.is_fixed, graph.edges);
  solver.solve(sights);
  for (std::size_t i = 0; i < graph.truths.size(); ++i) {
    if (i == 7) continue;
    EXPECT_NEAR(solver.offsets_ns()[i], honest.offsets_ns()[i], 100);
  }
}

TEST(GraphSolver, SigmasCoverTheErrors) {
  std::size_t within = 0;
  std::size_t count = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const RandomGraph graph(40, seed);
    std::vector<GraphSight> sights = graph.sights();
    test::SimRandom random(seed);
    for (GraphSight& sight : sights) sight.difference_ns += random.normal(1000);  // three times what they say
    GraphSolver solver(graph.is_fixed, graph.edges);
    solver.solve(sights);
    for (std::size_t i = 1; i < graph.truths.size(); ++i, ++count) {
      EXPECT_LT(solver.sigmas_ns()[i], 1000);
      if (std::abs(solver.offsets_ns()[i] - graph.truths[i]) < 3 * solver.sigmas_ns()[i]) ++within;
    }
  }
  EXPECT_GE(static_cast<double>(within), 0.99 * static_cast<double>(count));
}

TEST(GraphSolver, MoreEdgesDoNotHelpAgainstAClocksOwnWandering) {
  GraphSolver solver({true, false}, std::vector<GraphEdge>(10, {0, 1}));
  solver.solve(std::vector<GraphSight>(10, {5000, 100, 2000}));
  EXPECT_GE(solver.sigmas_ns()[1], 2000);
}

TEST(GraphSolver, AChainAddsUpAndHasNoLoops) {
  std::vector<GraphEdge> edges;
  std::vector<GraphSight> sights;
  for (std::uint32_t i = 0; i + 1 < 50; ++i) {
    edges.push_back({i + 1, i});
    sights.push_back({-100, 50, 10});
  }
  std::vector<bool> is_fixed(50, false);
  is_fixed[0] = true;
  GraphSolver solver(is_fixed, edges);
  solver.solve(sights);
  EXPECT_NEAR(solver.offsets_ns()[49], 4900, 1);
  EXPECT_GT(solver.sigmas_ns()[49], solver.sigmas_ns()[1]);
  EXPECT_FALSE(solver.has_loops());
}

TEST(GraphSolver, WhatNoPathReachesIsLeftAlone) {
  // 3 and 4 see each other only; 2 hangs on an edge that says nothing.
  GraphSolver solver({true, false, false, false, false}, {{0, 1}, {1, 2}, {3, 4}});
  const std::vector<GraphSight> sights = {{10, 1, 1}, {kNothing, 1, 1}, {77, 1, 1}};
  solver.solve(sights);
  EXPECT_EQ(solver.is_reached(), (std::vector<bool>{true, true, false, false, false}));
  EXPECT_NEAR(solver.offsets_ns()[1], 10, 0.1);
  EXPECT_DOUBLE_EQ(solver.offsets_ns()[4], 0);
  EXPECT_TRUE(std::isnan(solver.residuals_ns()[2]));
}

}  // namespace
}  // namespace jaxprof::clock
