#include "netsampler/node/tick_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;

std::vector<DueTick> take(TickSchedule* schedule, std::uint64_t now_ns) {
  std::vector<DueTick> due;
  schedule->take_due(now_ns, &due);
  return due;
}

TEST(TickSchedule, EntriesOfOneRateAreDueTogetherWhenTheyCameAtDifferentTimes) {
  TickSchedule schedule(1000);
  schedule.set(3, 100, 100, 1000);
  schedule.set(1, 100, 100, 1037);
  EXPECT_EQ(schedule.next_deadline_ns(), 1100U);
  EXPECT_THAT(take(&schedule, 1099), ElementsAre());
  EXPECT_THAT(take(&schedule, 1104), ElementsAre(DueTick{1, true, 4}, DueTick{3, true, 4}));
  EXPECT_EQ(schedule.next_deadline_ns(), 1200U);
}

TEST(TickSchedule, MissedTicksAreCountedNeverCaughtUpAndKeepThePhase) {
  TickSchedule schedule(0);
  schedule.set(0, 100, 100, 0);
  EXPECT_THAT(take(&schedule, 457), ElementsAre(DueTick{0, true, 57}));
  EXPECT_EQ(schedule.next_deadline_ns(), 500U);
  EXPECT_THAT(take(&schedule, 500), ElementsAre(DueTick{0, true, 0}));
  EXPECT_EQ(schedule.counts().ticks, 5U);
  EXPECT_EQ(schedule.counts().missed, 3U);
  EXPECT_EQ(schedule.counts().lateness_max_ns, 57U);
  EXPECT_EQ(schedule.counts().lateness_sum_ns, 57U);
}

TEST(TickSchedule, EachSlowPeriodHasOneSlowTickAlsoWhereItsOwnWasMissed) {
  TickSchedule schedule(0);
  schedule.set(0, 100, 1000, 0);
  int slow = 0;
  for (std::uint64_t now = 100; now <= 900; now += 100) slow += take(&schedule, now).front().is_slow ? 1 : 0;
  EXPECT_EQ(slow, 0);
  EXPECT_TRUE(take(&schedule, 1250).front().is_slow) << "1000, 1100 and 1200 were due";
  EXPECT_FALSE(take(&schedule, 1300).front().is_slow);
  EXPECT_TRUE(take(&schedule, 2000).front().is_slow);
}

TEST(TickSchedule, APeriodThatIsNoDivisorOfASecondStillHasASlowTickASecond) {
  TickSchedule schedule(0);
  schedule.set(0, 333, 1000, 0);
  std::vector<std::uint64_t> slow;
  for (std::uint64_t now = 333; now < 4000; now += 333) {
    if (take(&schedule, now).front().is_slow) slow.push_back(now);
  }
  EXPECT_THAT(slow, ElementsAre(1332, 2331, 3330));
}

TEST(TickSchedule, ANewPeriodHoldsFromItsNextWholePeriodOnAndTheSameOneChangesNothing) {
  TickSchedule schedule(0);
  schedule.set(0, 100, 100, 0);
  schedule.set(0, 100, 100, 950);
  EXPECT_EQ(schedule.next_deadline_ns(), 100U);
  schedule.set(0, 400, 400, 950);
  EXPECT_EQ(schedule.next_deadline_ns(), 1200U);
  schedule.set(0, 0, 0, 950);
  EXPECT_EQ(schedule.next_deadline_ns(), UINT64_MAX);
}

TEST(TickSchedule, EveryTickIsTakenOrMissedWheneverOneWakes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 50; ++round) {
    const std::uint64_t origin = random() % 1'000'000;
    const std::uint64_t period = 1 + random() % 5000;
    TickSchedule schedule(origin);
    schedule.set(0, period, 10 * period, origin);
    std::uint64_t now = origin;
    std::uint64_t taken = 0;
    for (int i = 0; i < 200; ++i) {
      now += random() % (3 * period);
      for (const DueTick& tick : take(&schedule, now)) {
        ++taken;
        ASSERT_LT(tick.lateness_ns, period);
        ASSERT_EQ((now - tick.lateness_ns - origin) % period, 0U);
      }
      ASSERT_GT(schedule.next_deadline_ns(), now);
    }
    EXPECT_EQ(schedule.counts().ticks, (now - origin) / period);
    EXPECT_EQ(schedule.counts().ticks, taken + schedule.counts().missed);
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
