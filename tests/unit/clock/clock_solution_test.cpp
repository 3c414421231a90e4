#include "merge/clock/clock_solution.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kUptime = 900'000 * kSecond;  // more ns than a double holds one by one

// Knots ten seconds apart whose offset changes by 50 ppm and a little.
NodeSolution drifting_node() {
  NodeSolution node;
  node.drift_bound = 1e-6;
  const std::int64_t offsets[] = {-77 * kSecond, -77 * kSecond + 500'000, -77 * kSecond + 1'000'300};
  for (int i = 0; i < 3; ++i) {
    node.knots.push_back({.raw_ns = kUptime + 10 * i * kSecond,
                          .offset_ns = offsets[i],
                          .frequency = 50e-6,
                          .sigma_ns = 100.0 * (i + 1),
                          .hard_lo_ns = -1000.0 * (i + 1),
                          .hard_hi_ns = 2000.0});
  }
  return node;
}

TEST(ClockModel, PassesThroughItsKnotsAndIsLinearBetween) {
  const NodeSolution node = drifting_node();
  EXPECT_EQ(reference_raw_ns(node, kUptime), kUptime - 77 * kSecond);
  EXPECT_EQ(reference_raw_ns(node, kUptime + 10 * kSecond), kUptime - 67 * kSecond + 500'000);
  EXPECT_EQ(reference_raw_ns(node, kUptime + 5 * kSecond), kUptime - 72 * kSecond + 250'000);
}

TEST(ClockModel, GoesOnAsItsOuterLines) {
  const NodeSolution node = drifting_node();
  EXPECT_EQ(reference_raw_ns(node, kUptime - 2 * kSecond), kUptime - 79 * kSecond - 100'000);
  EXPECT_EQ(reference_raw_ns(node, kUptime + 30 * kSecond), kUptime - 47 * kSecond + 1'500'600);
}

TEST(ClockModel, OneKnotGoesOnWithItsFrequency) {
  NodeSolution node;
  node.knots = {{.raw_ns = 1000, .offset_ns = 7, .frequency = 1e-3}};
  EXPECT_EQ(reference_raw_ns(node, 1'001'000), 1'001'000 + 7 + 1000);
  EXPECT_EQ(node_raw_ns(node, reference_raw_ns(node, 1'001'000)), 1'001'000);
}

TEST(ClockModel, IsInvertedWithinANanosecond) {
  const NodeSolution node = drifting_node();
  test::SimRandom random(3);
  for (int i = 0; i < 10'000; ++i) {
    const std::int64_t raw_ns = kUptime + static_cast<std::int64_t>(random.uniform(-30e9, 60e9));
    ASSERT_LE(std::abs(node_raw_ns(node, reference_raw_ns(node, raw_ns)) - raw_ns), 1) << raw_ns;
  }
}

TEST(ClockModel, KeepsTheOrderOfStamps) {
  const NodeSolution node = drifting_node();
  for (const std::int64_t at_ns : {kUptime - 1, kUptime, kUptime + 10 * kSecond, kUptime + 20 * kSecond}) {
    EXPECT_LE(reference_raw_ns(node, at_ns), reference_raw_ns(node, at_ns + 1));
  }
}

TEST(ClockError, IsLinearBetweenKnotsAndGrowsBeyondThem) {
  const NodeSolution node = drifting_node();
  const ClockError between = error_at(node, kUptime + 5 * kSecond);
  EXPECT_DOUBLE_EQ(between.sigma_ns, 150);
  EXPECT_DOUBLE_EQ(between.hard_lo_ns, -1500);
  EXPECT_DOUBLE_EQ(between.hard_hi_ns, 2000);
  const ClockError beyond = error_at(node, kUptime + 23 * kSecond);
  EXPECT_DOUBLE_EQ(beyond.hard_lo_ns, -3000 - 3000);
  EXPECT_DOUBLE_EQ(beyond.hard_hi_ns, 2000 + 3000);
  EXPECT_GT(beyond.sigma_ns, 300);
  EXPECT_DOUBLE_EQ(error_at(node, kUptime - kSecond).hard_lo_ns, -1000 - 1000);
}

}  // namespace
}  // namespace jaxprof::clock
