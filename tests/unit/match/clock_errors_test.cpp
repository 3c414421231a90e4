#include "merge/match/clock_errors.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "merge/runfile/table_rows.h"

namespace jaxprof::match {
namespace {

struct Knot {
  std::int64_t time_ns;
  double sigma_ns;
  double lo_ns;
  double hi_ns;
};

runfile::RunTables run_of(const std::vector<std::vector<Knot>>& nodes, double drift_bound_ppb = 0) {
  runfile::RunTables run;
  run.clock_model_offset = {0};
  for (const std::vector<Knot>& knots : nodes) {
    for (const Knot& knot : knots) {
      const std::size_t row = runfile::add_row(run.clock_model);
      run.clock_model.time_ns[row] = knot.time_ns;
      run.clock_model.sigma_ns[row] = knot.sigma_ns;
      run.clock_model.hard_lo_ns[row] = knot.lo_ns;
      run.clock_model.hard_hi_ns[row] = knot.hi_ns;
    }
    run.clock_model_offset.push_back(run.clock_model.time_ns.size());
    run.clock_nodes.drift_bound_ppb[runfile::add_row(run.clock_nodes)] = drift_bound_ppb;
  }
  return run;
}

TEST(ClockErrors, AreLinearBetweenKnots) {
  const ClockErrors errors(run_of({{{0, 10, -100, 200}, {1000, 20, -300, 600}}}));
  const NodeError error = errors.at(0, 250);
  EXPECT_DOUBLE_EQ(error.sigma_ns, 12.5);
  EXPECT_DOUBLE_EQ(error.hard_lo_ns, -150);
  EXPECT_DOUBLE_EQ(error.hard_hi_ns, 300);
}

TEST(ClockErrors, GrowBeyondTheKnotsAsTheClockMayDrift) {
  const ClockErrors errors(run_of({{{0, 0, -100, 100}, {1000, 0, -100, 100}}}, 500));  // 0.5 ppm
  const NodeError after = errors.at(0, 1000 + 1'000'000'000);
  EXPECT_DOUBLE_EQ(after.hard_hi_ns, 600);
  EXPECT_DOUBLE_EQ(after.hard_lo_ns, -600);
  EXPECT_DOUBLE_EQ(errors.at(0, -1'000'000'000).hard_hi_ns, 600);
}

TEST(ClockErrors, AreNothingOnOneNode) {
  const ClockErrors errors(run_of({{{0, 10, -100, 200}}, {}}));
  const std::vector<std::uint32_t> one = {0, 0, 0};
  EXPECT_EQ(errors.between(one, 0).sigma_ns, 0);
  EXPECT_EQ(errors.between(one, 0).bound_ns, 0);
}

TEST(ClockErrors, AreUnknownIfOneNodeIs) {
  const ClockErrors errors(run_of({{{0, 10, -100, 200}}, {}}));
  const std::vector<std::uint32_t> both = {0, 1};
  EXPECT_FALSE(errors.between(both, 0).is_known());
  EXPECT_TRUE(std::isnan(errors.at(1, 0).hard_lo_ns));
  EXPECT_TRUE(std::isnan(errors.at(7, 0).hard_lo_ns)) << "no such node";
}

// a may be 100 too early to 200 too late, b 50 to 20, c 400 to 10: a late and c early are the farthest apart, 200 +
// 400.
TEST(ClockErrors, BoundTheWorstPairOfDifferentNodes) {
  const ClockErrors errors(run_of({{{0, 3, -100, 200}}, {{0, 4, -50, 20}}, {{0, 1, -400, 10}}}));
  const std::vector<std::uint32_t> all = {0, 1, 2};
  EXPECT_DOUBLE_EQ(errors.between(all, 0).bound_ns, 600);
  EXPECT_DOUBLE_EQ(errors.between(all, 0).sigma_ns, 5);
}

// Both extremes are one node's: the pair is of it and the next one.
TEST(ClockErrors, DoNotPairANodeWithItself) {
  const ClockErrors errors(run_of({{{0, 0, -500, 500}}, {{0, 0, -30, 20}}}));
  const std::vector<std::uint32_t> both = {0, 1};
  EXPECT_DOUBLE_EQ(errors.between(both, 0).bound_ns, 530);
}

}  // namespace
}  // namespace jaxprof::match
