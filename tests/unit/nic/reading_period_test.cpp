#include "netsampler/nic/reading_period.h"

#include <gtest/gtest.h>

#include <array>

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kUs = 1'000;
constexpr std::uint64_t kMs = 1'000'000;
constexpr std::uint64_t kSecond = 1'000'000'000;

PeriodWish wish(std::uint64_t period_ns, std::uint64_t reading_ns) {
  return {
      .default_period_ns = period_ns, .reading_ns = reading_ns, .has_fast = true, .is_active = true, .is_read = true};
}

TEST(ChoosePeriods, TakesEachDriversOwn) {
  const std::vector<PeriodWish> wishes = {wish(100 * kMs, 10 * kUs), wish(20 * kMs, 10 * kUs)};
  const Periods periods = choose_periods(wishes, 0, false);
  EXPECT_EQ(periods.ports[0].fast_ns, 100 * kMs);
  EXPECT_EQ(periods.ports[1].fast_ns, 20 * kMs);
  EXPECT_EQ(periods.ports[1].slow_ns, kSecond);
  EXPECT_FALSE(periods.is_lowered);
  EXPECT_EQ(periods.reading_ns, 20 * kUs);
}

TEST(ChoosePeriods, TakesTheUsersRateForAll) {
  const std::vector<PeriodWish> wishes = {wish(100 * kMs, 10 * kUs), wish(kSecond, 10 * kUs)};
  const Periods periods = choose_periods(wishes, 100, false);
  EXPECT_EQ(periods.ports[0].fast_ns, 10 * kMs);
  EXPECT_EQ(periods.ports[1].fast_ns, 10 * kMs);
}

TEST(ChoosePeriods, SpendsATwentiethOfTheTimeReading) {
  const std::vector<PeriodWish> wishes(32, wish(100 * kMs, 400 * kUs));  // 12.8 ms together
  const Periods periods = choose_periods(wishes, 0, false);
  EXPECT_EQ(periods.ports[0].fast_ns, 256 * kMs);
  EXPECT_EQ(periods.shortest_ns, 256 * kMs);
  EXPECT_TRUE(periods.is_lowered);
}

TEST(TakesOtherTime, AtTwiceAndAtHalf) {
  EXPECT_FALSE(takes_other_time(100, 199));
  EXPECT_TRUE(takes_other_time(100, 200));
  EXPECT_FALSE(takes_other_time(100, 51));
  EXPECT_TRUE(takes_other_time(100, 50));
}

TEST(ChoosePeriods, RoundsUpToWholeMilliseconds) {
  const std::vector<PeriodWish> wishes = {wish(20 * kMs, 1 * kMs + 1)};
  EXPECT_EQ(choose_periods(wishes, 0, false).ports[0].fast_ns, 21 * kMs);
}

TEST(ChoosePeriods, NeverReadsAllColumnsMoreOftenThanTheFastOnes) {
  const std::vector<PeriodWish> wishes = {wish(100 * kMs, 150 * kMs)};
  const Periods periods = choose_periods(wishes, 0, false);
  EXPECT_EQ(periods.ports[0].fast_ns, 3 * kSecond);
  EXPECT_EQ(periods.ports[0].slow_ns, 3 * kSecond);
}

TEST(ChoosePeriods, HasOnePeriodWhereNothingIsFast) {
  PeriodWish slow = wish(20 * kMs, 10 * kUs);
  slow.has_fast = false;
  const Periods periods = choose_periods(std::vector{slow}, 0, false);
  EXPECT_EQ(periods.ports[0].fast_ns, kSecond);
  EXPECT_EQ(periods.ports[0].slow_ns, kSecond);
  EXPECT_FALSE(periods.is_lowered);
}

TEST(ChoosePeriods, LooksOnceASecondAtAPortWithoutALink) {
  PeriodWish down = wish(20 * kMs, 10 * kUs);
  down.is_active = false;
  EXPECT_EQ(choose_periods(std::vector{down}, 1000, false).ports[0].fast_ns, kSecond);
}

TEST(ChoosePeriods, LeavesOutWhatHasNoCounters) {
  PeriodWish none = wish(20 * kMs, 10 * kMs);
  none.is_read = false;
  const Periods periods = choose_periods(std::vector{none, wish(20 * kMs, 10 * kUs)}, 0, false);
  EXPECT_EQ(periods.ports[0].fast_ns, 0U);
  EXPECT_EQ(periods.ports[0].slow_ns, 0U);
  EXPECT_EQ(periods.ports[1].fast_ns, 20 * kMs);
}

TEST(ChoosePeriods, IsTwiceAsLongForTheSecondOfTwoRuns) {
  const std::vector<PeriodWish> wishes = {wish(100 * kMs, 10 * kUs)};
  const Periods periods = choose_periods(wishes, 0, true);
  EXPECT_EQ(periods.ports[0].fast_ns, 200 * kMs);
  EXPECT_EQ(periods.ports[0].slow_ns, 2 * kSecond);
  EXPECT_FALSE(periods.is_lowered) << "that is what was wanted";
}

TEST(TypicalReading, IsTheMedian) {
  EXPECT_EQ(typical_reading_ns(std::array<std::uint64_t, 5>{900, 3, 5, 4, 1}, false), 4U);
  EXPECT_EQ(typical_reading_ns({}, false), 0U);
}

TEST(TypicalReading, IsTheFirstWhereTheKernelKeepsValues) {
  EXPECT_EQ(typical_reading_ns(std::array<std::uint64_t, 5>{900, 3, 5, 4, 1}, true), 900U);
}

}  // namespace
}  // namespace jaxprof::netsampler
