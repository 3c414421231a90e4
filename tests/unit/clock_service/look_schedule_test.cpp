#include "netsampler/clock/look_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kSecond = 1'000 * kMillisecond;

// When looks are due, in ms after the begin, if each takes so long.
std::vector<std::int64_t> looks(std::int64_t begin_ns, std::int64_t took_ns, int count) {
  LookSchedule schedule(begin_ns);
  std::vector<std::int64_t> found;
  for (int i = 0; i < count; ++i) {
    found.push_back((schedule.next_ns() - begin_ns) / kMillisecond);
    schedule.looked(schedule.next_ns(), took_ns, false);
  }
  return found;
}

TEST(LookSchedule, IsDenseAtFirstAndThenDoublesUpToHalfAMinute) {
  EXPECT_THAT(looks(77 * kSecond, 0, 13),
              ElementsAre(0, 100, 200, 500, 1000, 2000, 4000, 8000, 16000, 32000, 62000, 92000, 122000));
}

TEST(LookSchedule, AFolderThatIsSlowToListIsLeftAloneInProportion) {
  EXPECT_THAT(looks(0, 20 * kMillisecond, 4), ElementsAre(0, 400, 800, 1200));
  EXPECT_THAT(looks(0, 2 * kSecond, 3), ElementsAre(0, 40000, 80000));
}

TEST(LookSchedule, SomebodyNewIsFollowedByMoreLooks) {
  LookSchedule schedule(0);
  for (int i = 0; i < 10; ++i) schedule.looked(schedule.next_ns(), 0, false);
  const std::int64_t now_ns = schedule.next_ns();
  schedule.looked(now_ns, 0, true);
  EXPECT_EQ(schedule.next_ns(), now_ns + kSecond);
  schedule.looked(now_ns + kSecond, 0, false);
  EXPECT_EQ(schedule.next_ns(), now_ns + 3 * kSecond);
}

TEST(LookSchedule, LooksThatWereMissedAreNotCaughtUp) {
  LookSchedule schedule(0);
  schedule.looked(700 * kMillisecond, 0, false);
  EXPECT_EQ(schedule.next_ns(), kSecond);
}

}  // namespace
}  // namespace jaxprof::netsampler
