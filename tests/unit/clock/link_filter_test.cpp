#include "merge/clock/link_filter.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

constexpr double kSecond = 1e9;

std::vector<double> every_five_seconds(double to_s) {
  std::vector<double> times;
  for (double at_s = 0; at_s <= to_s; at_s += 5) times.push_back(at_s * kSecond);
  return times;
}

// 1,000 ns and 2 ppm, seen every ten seconds.
double line_ns(double time_ns) {
  return 1000 + 2e-6 * time_ns;
}
std::vector<LinkSight> sights_on_line(std::size_t count, double noise_ns, double stated_ns, std::uint64_t seed) {
  test::SimRandom random(seed);
  std::vector<LinkSight> sights;
  for (std::size_t i = 0; i < count; ++i) {
    const double time_ns = static_cast<double>(i) * 10 * kSecond;
    sights.push_back({time_ns, line_ns(time_ns) + random.normal(noise_ns), stated_ns});
  }
  return sights;
}

TEST(LinkFilter, FindsALineAndItsRate) {
  LinkFilter filter;
  const auto times = every_five_seconds(300);
  const auto& states = filter.smooth(sights_on_line(31, 0, 300, 1), times);
  ASSERT_EQ(states.size(), times.size());
  for (std::size_t i = 0; i < times.size(); ++i) {
    EXPECT_NEAR(states[i].offset_ns, line_ns(times[i]), 1);
    EXPECT_NEAR(states[i].frequency, 2e-6, 1e-10);
  }
}

TEST(LinkFilter, StatesWhatItsErrorsAre) {
  LinkFilter filter;
  const auto times = every_five_seconds(300);
  double square_sum = 0;
  std::size_t count = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const auto& states = filter.smooth(sights_on_line(31, 300, 300, seed), times);
    for (std::size_t i = 0; i < times.size(); ++i, ++count) {
      square_sum += std::pow((states[i].offset_ns - line_ns(times[i])) / states[i].sigma_ns, 2);
    }
  }
  // The clocks of this test do not wander, so it is a little better than it says.
  const double ratio = std::sqrt(square_sum / static_cast<double>(count));
  EXPECT_GT(ratio, 0.6);
  EXPECT_LT(ratio, 1.1);
}

TEST(LinkFilter, IsMoreCertainAtSightsThanFarFromThem) {
  LinkFilter filter;
  const std::vector<LinkSight> sights = {{0, 0, 100}, {10 * kSecond, 0, 100}};
  const auto& states = filter.smooth(sights, std::vector<double>{-60 * kSecond, 0, 10 * kSecond, 70 * kSecond});
  EXPECT_GT(states[0].sigma_ns, 3 * states[1].sigma_ns);
  EXPECT_GT(states[3].sigma_ns, 3 * states[2].sigma_ns);
}

TEST(LinkFilter, GoesBackInTimeBeforeTheFirstSight) {
  LinkFilter filter;
  std::vector<LinkSight> sights = sights_on_line(10, 0, 300, 1);
  const auto& states = filter.smooth(sights, std::vector<double>{-20 * kSecond});
  EXPECT_NEAR(states[0].offset_ns, line_ns(-20 * kSecond), 5);
}

TEST(LinkFilter, ASingleOutlierHardlyMovesIt) {
  LinkFilter filter;
  const auto times = every_five_seconds(300);
  std::vector<LinkSight> sights = sights_on_line(31, 0, 300, 1);
  sights[15].offset_ns += 1e6;
  const auto& states = filter.smooth(sights, times);
  for (std::size_t i = 0; i < times.size(); ++i) EXPECT_NEAR(states[i].offset_ns, line_ns(times[i]), 300);
}

TEST(LinkFilter, TakesSightsForNoisierIfTheyScatterMoreThanTheySay) {
  LinkFilter filter;
  const auto times = every_five_seconds(600);
  const auto& states = filter.smooth(sights_on_line(61, 5000, 100, 2), times);
  double worst = 0;
  for (std::size_t i = 0; i < times.size(); ++i) {
    worst = std::max(worst, std::abs(states[i].offset_ns - line_ns(times[i])) / states[i].sigma_ns);
  }
  EXPECT_LT(worst, 4);
  EXPECT_GT(states[30].sigma_ns, 500);
}

TEST(LinkFilter, AllowsAClockToWanderAsMuchAsItDoes) {
  LinkFilter filter;
  const auto times = every_five_seconds(600);
  std::vector<LinkSight> sights = sights_on_line(61, 0, 300, 1);
  const auto bend_ns = [](double time_ns) { return time_ns < 300 * kSecond ? 0 : 30e-6 * (time_ns - 300 * kSecond); };
  for (LinkSight& sight : sights) sight.offset_ns += bend_ns(sight.time_ns);
  const auto& states = filter.smooth(sights, times);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const double error_ns = std::abs(states[i].offset_ns - line_ns(times[i]) - bend_ns(times[i]));
    EXPECT_LT(error_ns, 4 * states[i].sigma_ns) << times[i];
  }
  EXPECT_NEAR(states.back().frequency, 32e-6, 1e-7);
}

TEST(LinkFilter, OneSightSaysNothingOfTheRate) {
  LinkFilter filter;
  const std::vector<LinkSight> sights = {{0, 42, 100}};
  const auto& states = filter.smooth(sights, std::vector<double>{0, 10 * kSecond});
  EXPECT_DOUBLE_EQ(states[0].offset_ns, 42);
  EXPECT_DOUBLE_EQ(states[1].offset_ns, 42);
  EXPECT_GT(states[1].sigma_ns, 900e3);  // 100 ppm of ten seconds
  EXPECT_TRUE(filter.smooth({}, std::vector<double>{0}).empty());
}

}  // namespace
}  // namespace jaxprof::clock
