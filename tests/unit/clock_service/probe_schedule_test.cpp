#include "netsampler/clock/probe_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

using spool::BurstKind;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

class ProbeScheduleTest : public testing::Test {
 protected:
  std::vector<DueBurst> due_at(std::int64_t now_ns) {
    std::vector<DueBurst> due;
    schedule_.take_due(now_ns, &due);
    return due;
  }
  // Runs the only burst that is due next, and returns when that was.
  std::int64_t run_next(bool has_answers, BurstKind* kind = nullptr) {
    const std::int64_t now_ns = schedule_.next_ns();
    const auto due = due_at(now_ns);
    EXPECT_EQ(due.size(), 1U);
    if (kind != nullptr) *kind = due.at(0).kind;
    schedule_.finished(due.at(0).peer, now_ns, has_answers);
    return now_ns;
  }

  ProbeSchedule schedule_{42};
};

TEST_F(ProbeScheduleTest, WithoutPeersNothingIsDue) {
  EXPECT_EQ(schedule_.next_ns(), INT64_MAX);
  EXPECT_THAT(due_at(INT64_MAX - 1), IsEmpty());
}

TEST_F(ProbeScheduleTest, AFirstBurstIsLongAndWithinItsWindow) {
  schedule_.add(3, 100 * kSecond, 2 * kSecond);
  EXPECT_THAT(due_at(100 * kSecond - 1), IsEmpty());
  EXPECT_LE(schedule_.next_ns(), 102 * kSecond);
  EXPECT_THAT(due_at(102 * kSecond), ElementsAre(DueBurst{3, BurstKind::kStart, 64}));
  EXPECT_THAT(due_at(200 * kSecond), IsEmpty()) << "it is under way";
  EXPECT_EQ(schedule_.next_ns(), INT64_MAX);
}

TEST_F(ProbeScheduleTest, WindowsAreUsedEvenly) {
  int early = 0;
  for (std::uint32_t peer = 0; peer < 1000; ++peer) schedule_.add(peer, 0, 2 * kSecond);
  early = static_cast<int>(due_at(kSecond).size());
  EXPECT_GT(early, 400);
  EXPECT_LT(early, 600);
}

TEST_F(ProbeScheduleTest, ANewPeerIsAskedAgainAfterOneTwoFourAndEightSeconds) {
  schedule_.add(0, 0, 0);
  std::int64_t before_ns = run_next(true);
  for (const std::int64_t seconds : {1, 2, 4, 8}) {
    const std::int64_t now_ns = run_next(true);
    EXPECT_GE(now_ns - before_ns, seconds * kSecond * 4 / 5);
    EXPECT_LE(now_ns - before_ns, seconds * kSecond * 6 / 5);
    before_ns = now_ns;
  }
}

TEST_F(ProbeScheduleTest, PeriodsAreTenSecondsGiveOrTakeAFifth) {
  schedule_.add(0, 0, 0);
  for (int i = 0; i < 4; ++i) run_next(true);
  std::int64_t before_ns = run_next(true);
  std::int64_t shortest_ns = INT64_MAX;
  std::int64_t longest_ns = 0;
  for (int i = 0; i < 500; ++i) {
    BurstKind kind{};
    const std::int64_t now_ns = run_next(true, &kind);
    EXPECT_EQ(kind, BurstKind::kPeriodic);
    shortest_ns = std::min(shortest_ns, now_ns - before_ns);
    longest_ns = std::max(longest_ns, now_ns - before_ns);
    before_ns = now_ns;
  }
  EXPECT_GE(shortest_ns, 8 * kSecond);
  EXPECT_LT(shortest_ns, 8.5 * kSecond);
  EXPECT_LE(longest_ns, 12 * kSecond);
  EXPECT_GT(longest_ns, 11.5 * kSecond);
}

TEST_F(ProbeScheduleTest, APeerThatHasNeverAnsweredIsTriedSoonAndThenEverMoreRarely) {
  schedule_.add(0, 0, 0);
  std::int64_t before_ns = run_next(false);
  EXPECT_TRUE(schedule_.is_missing(0, before_ns));
  std::int64_t pause_ns = 0;
  for (const std::int64_t most : {1, 2, 4, 8, 16, 32, 60, 60, 60}) {
    BurstKind kind{};
    const std::int64_t now_ns = run_next(false, &kind);
    EXPECT_EQ(kind, BurstKind::kStart);
    pause_ns = now_ns - before_ns;
    EXPECT_LE(pause_ns, most * kSecond);
    EXPECT_GE(pause_ns, most * kSecond * 9 / 10);
    before_ns = now_ns;
  }
  run_next(true);
  EXPECT_FALSE(schedule_.is_missing(0, before_ns + 100 * kSecond));
  EXPECT_TRUE(schedule_.is_answering(0));
  BurstKind kind{};
  run_next(true, &kind);
  EXPECT_EQ(kind, BurstKind::kPeriodic);
}

TEST_F(ProbeScheduleTest, APeerThatFallsSilentIsMissingAfterHalfAMinuteAndTakenInWhenItReturns) {
  schedule_.add(0, 0, 0);
  const std::int64_t answered_ns = run_next(true);
  std::int64_t now_ns = run_next(false);
  EXPECT_FALSE(schedule_.is_missing(0, now_ns)) << "once is not gone";
  EXPECT_FALSE(schedule_.is_answering(0));
  while (now_ns - answered_ns < 30 * kSecond) now_ns = run_next(false);
  EXPECT_TRUE(schedule_.is_missing(0, now_ns));
  for (int i = 0; i < 5; ++i) now_ns = run_next(false);
  const std::int64_t later_ns = run_next(true);
  EXPECT_LE(later_ns - now_ns, 60 * kSecond);
  EXPECT_FALSE(schedule_.is_missing(0, later_ns));
  EXPECT_LE(schedule_.next_ns() - later_ns, 12 * kSecond) << "as before";
}

TEST_F(ProbeScheduleTest, AStepAsksThoseWhoAnswerOnceMore) {
  schedule_.add(0, 0, 0);
  schedule_.add(1, 0, 0);
  schedule_.add(2, 0, 0);
  for (const DueBurst& burst : due_at(0)) schedule_.finished(burst.peer, 0, burst.peer != 1);
  schedule_.add(3, 0, 10 * kSecond);
  schedule_.remove(1);
  schedule_.hurry(2 * kSecond, kSecond / 10);
  const auto due = due_at(2 * kSecond + kSecond / 10);
  EXPECT_THAT(due, testing::IsSupersetOf({DueBurst{0, BurstKind::kStep, 16}, DueBurst{2, BurstKind::kStep, 16}}));
  schedule_.finished(0, 3 * kSecond, true);
  BurstKind kind{};
  schedule_.remove(3);
  schedule_.finished(2, 3 * kSecond, true);
  run_next(true, &kind);
  EXPECT_EQ(kind, BurstKind::kPeriodic);
}

TEST_F(ProbeScheduleTest, AStepDuringABurstIsFollowedByAnother) {
  schedule_.add(0, 0, 0);
  schedule_.finished(due_at(0).at(0).peer, 0, true);
  const std::int64_t second_ns = schedule_.next_ns();
  ASSERT_EQ(due_at(second_ns).size(), 1U);
  schedule_.hurry(second_ns + 1, 0);
  EXPECT_THAT(due_at(second_ns + 2), IsEmpty()) << "one at a time";
  schedule_.finished(0, second_ns + 3, true);
  EXPECT_THAT(due_at(second_ns + 3), ElementsAre(DueBurst{0, BurstKind::kStep, 16}));
}

TEST_F(ProbeScheduleTest, APeerThatIsAddedAgainBeginsAnew) {
  schedule_.add(0, 0, 0);
  run_next(true);
  schedule_.add(0, kSecond, 0);
  EXPECT_THAT(due_at(kSecond), ElementsAre(DueBurst{0, BurstKind::kStart, 64}));
}

TEST_F(ProbeScheduleTest, WhatIsToldOfAPeerThatWentIsIgnored) {
  schedule_.add(0, 0, 0);
  due_at(0);
  schedule_.remove(0);
  schedule_.finished(0, 1, true);
  EXPECT_EQ(schedule_.next_ns(), INT64_MAX);
  EXPECT_FALSE(schedule_.contains(0));
  EXPECT_FALSE(schedule_.is_missing(0, 1));
}

}  // namespace
}  // namespace jaxprof::netsampler
