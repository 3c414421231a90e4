#include "merge/clock/wall_scale.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "tests/simulator/sim_cluster.h"

namespace jaxprof::clock {
namespace {

using test::kSimSecondNs;
using test::SimOptions;

constexpr std::int64_t kMillisecond = 1'000'000;

// One simulated node whose CLOCK_REALTIME does what the test says.
class Node {
 public:
  explicit Node(std::vector<test::SimWallEvent> events, std::int64_t length_ns = 120 * kSimSecondNs)
      : clock_({.raw_at_start_ns = 777'000'000'000'123, .crystal_ppm = 31, .thermal_ppm = 1, .random_walk = 1e-9},
               length_ns, test::SimRandom(5)),
        wall_(clock_, length_ns, events, test::SimRandom(6)) {
    test::SimRandom random(7);
    std::size_t place = 0;
    for (std::int64_t at_ns = 0; at_ns <= length_ns; at_ns += 100 * kMillisecond) {
      const double bracket_ns = 40 + random.exponential(15) + (random.chance(0.01) ? 30e3 : 0);
      const std::int64_t wall_at_ns = at_ns + std::llround(random.uniform(0, bracket_ns));
      readings_.push_back({clock_.raw_ns(at_ns), wall_.wall_ns(clock_.raw_ns(wall_at_ns), &place), 0,
                           static_cast<std::uint32_t>(std::ceil(bracket_ns))});
    }
  }
  std::vector<spool::ClockReading>& readings() { return readings_; }
  std::int64_t raw_ns(std::int64_t at_ns) const { return clock_.raw_ns(at_ns); }
  std::int64_t wall_ns(std::int64_t at_ns) const {
    std::size_t place = 0;
    return wall_.wall_ns(clock_.raw_ns(at_ns), &place);
  }

 private:
  test::SimClock clock_;
  test::SimWall wall_;
  std::vector<spool::ClockReading> readings_;
};

TEST(WallScale, ConvertsWithinTheErrorThatItStates) {
  Node node({});
  const WallScale scale = WallScale::fit(node.readings());
  WallScale::Place place;
  double largest_ns = 0;
  for (std::int64_t at_ns = kMillisecond; at_ns < 120 * kSimSecondNs; at_ns += 7'654'321) {
    const auto instant = scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns) - 5000, &place);
    ASSERT_TRUE(instant.has_value());
    ASSERT_LE(std::abs(static_cast<double>(instant->raw_ns - node.raw_ns(at_ns))), instant->error_ns + 1) << at_ns;
    largest_ns = std::max(largest_ns, instant->error_ns);
  }
  EXPECT_LT(largest_ns, 500);
  EXPECT_TRUE(scale.steps().empty());
}

TEST(WallScale, NeedsFewKnots) {
  Node node({});
  EXPECT_LT(WallScale::fit(node.readings()).knots(), 120U);
}

TEST(WallScale, DoesNotDependOnTheOrderOfReadings) {
  Node node({});
  std::vector<spool::ClockReading> shuffled = node.readings();
  std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937(1));
  const WallScale one = WallScale::fit(node.readings());
  const WallScale other = WallScale::fit(shuffled);
  WallScale::Place place;
  for (std::int64_t at_ns = 0; at_ns < 120 * kSimSecondNs; at_ns += kSimSecondNs) {
    WallScale::Place other_place;
    EXPECT_EQ(one.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place)->raw_ns,
              other.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &other_place)->raw_ns);
  }
}

TEST(WallScale, CoversTheTruthWhereASlewBeginsAndEnds) {
  Node node({{.at_ns = 50 * kSimSecondNs + 37 * kMillisecond, .slew_ppm = 500, .slew_ns = 10 * kSimSecondNs}});
  const WallScale scale = WallScale::fit(node.readings());
  WallScale::Place place;
  for (std::int64_t at_ns = 45 * kSimSecondNs; at_ns < 65 * kSimSecondNs; at_ns += kMillisecond) {
    const auto instant = scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place);
    ASSERT_TRUE(instant.has_value());
    ASSERT_LE(std::abs(static_cast<double>(instant->raw_ns - node.raw_ns(at_ns))), instant->error_ns + 1) << at_ns;
  }
  EXPECT_TRUE(scale.steps().empty());
}

TEST(WallScale, FindsTheTimeAndSizeOfASetClockAndConvertsNothingThere) {
  Node node({{.at_ns = 50 * kSimSecondNs + 37 * kMillisecond, .step_ns = -500e3}});
  const WallScale scale = WallScale::fit(node.readings());
  ASSERT_EQ(scale.steps().size(), 1U);
  EXPECT_NEAR(static_cast<double>(scale.steps()[0].size_ns), -500e3, 300);
  EXPECT_NEAR(static_cast<double>(scale.steps()[0].raw_ns - node.raw_ns(50 * kSimSecondNs)), 100e6, 1e6);
  WallScale::Place place;
  const std::int64_t at_ns = 50 * kSimSecondNs + 60 * kMillisecond;
  EXPECT_FALSE(scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place).has_value());
  const std::int64_t later_ns = 51 * kSimSecondNs;
  const auto later = scale.raw_at(node.wall_ns(later_ns), node.raw_ns(later_ns), &place);
  ASSERT_TRUE(later.has_value());
  EXPECT_LE(std::abs(static_cast<double>(later->raw_ns - node.raw_ns(later_ns))), later->error_ns + 1);
}

// A clock without a battery begins in 1970.
TEST(WallScale, TellsAStepOfDecadesToTheNanosecond) {
  constexpr std::int64_t kNow = 1'796'000'000 * kSimSecondNs;
  std::vector<spool::ClockReading> readings;
  for (std::int64_t second = 0; second < 20; ++second) {
    const std::int64_t raw_ns = (90 + second) * kSimSecondNs;
    readings.push_back({raw_ns, (second < 10 ? 0 : kNow) + raw_ns, raw_ns, 40});
  }
  const WallScale scale = WallScale::fit(readings);
  ASSERT_EQ(scale.steps().size(), 1u);
  EXPECT_EQ(scale.steps()[0].size_ns, kNow);
}

TEST(WallScale, CoversAStepThatIsTooSmallToBeTold) {
  Node node({{.at_ns = 50 * kSimSecondNs + 37 * kMillisecond, .step_ns = 40e3}});
  const WallScale scale = WallScale::fit(node.readings());
  WallScale::Place place;
  for (std::int64_t at_ns = 49 * kSimSecondNs; at_ns < 52 * kSimSecondNs; at_ns += kMillisecond) {
    const auto instant = scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place);
    if (!instant) continue;
    ASSERT_LE(std::abs(static_cast<double>(instant->raw_ns - node.raw_ns(at_ns))), instant->error_ns + 1) << at_ns;
  }
}

TEST(WallScale, SaysNothingAcrossAHoleInTheReadings) {
  Node node({});
  std::vector<spool::ClockReading>& readings = node.readings();
  readings.erase(readings.begin() + 400, readings.begin() + 500);
  const WallScale scale = WallScale::fit(readings);
  WallScale::Place place;
  const std::int64_t at_ns = 45 * kSimSecondNs;
  EXPECT_FALSE(scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place).has_value());
  EXPECT_TRUE(scale.steps().empty());
}

TEST(WallScale, AReadingRightBehindAnotherTellsNoRate) {
  // An observer that is told to end has just read its clocks, reads them, asks the others, and reads them a last time.
  constexpr std::int64_t kEndNs = 120 * kSimSecondNs;
  Node node({});
  std::vector<spool::ClockReading>& readings = node.readings();
  const spool::ClockReading last = readings.back();
  readings.resize(readings.size() - 3);
  for (const std::int64_t after_ns : {40'000, 70'000}) {
    spool::ClockReading again = readings.back();
    again.raw_ns += after_ns;
    again.wall_ns += after_ns + 45;
    readings.push_back(again);
  }
  readings.push_back(last);
  const WallScale scale = WallScale::fit(readings);
  WallScale::Place place;
  for (std::int64_t at_ns = kEndNs - 290 * kMillisecond; at_ns < kEndNs; at_ns += kMillisecond) {
    const auto instant = scale.raw_at(node.wall_ns(at_ns), node.raw_ns(at_ns), &place);
    ASSERT_TRUE(instant.has_value());
    ASSERT_LE(std::abs(static_cast<double>(instant->raw_ns - node.raw_ns(at_ns))), instant->error_ns + 1) << at_ns;
    ASSERT_LT(instant->error_ns, 1000);
  }
}

TEST(WallScale, IsEmptyWithoutTwoReadingsThatAClockShows) {
  WallScale::Place place;
  EXPECT_FALSE(WallScale::fit({}).raw_at(1, 1, &place).has_value());
  const std::vector<spool::ClockReading> strange = {
      {INT64_MIN, 0, 0, 1}, {5, INT64_MIN, 0, 1}, {INT64_MAX, 7, 0, 1}, {5, 10, 0, 1}, {5, 11, 0, 2}};
  EXPECT_FALSE(WallScale::fit(strange).raw_at(10, 5, &place).has_value());
}

}  // namespace
}  // namespace jaxprof::clock
