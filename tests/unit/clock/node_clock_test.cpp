#include "merge/clock/node_clock.h"

#include <gtest/gtest.h>

#include <vector>

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// CLOCK_MONOTONIC_RAW as counter, at `raw_s`, when the wall clock read `wall_s`.
spool::AnchorRecord anchor(std::int64_t raw_s, std::int64_t wall_s) {
  return {static_cast<std::uint64_t>(raw_s * kSecond), raw_s * kSecond, wall_s * kSecond, raw_s * kSecond, 50};
}

TEST(NodeClock, FollowsItsOwnAnchorsWhereThereIsNoProcess) {
  const std::vector<spool::AnchorRecord> anchors = {anchor(10, 1000), anchor(20, 1010)};
  const NodeClock clock = NodeClock::fit(anchors, std::nullopt);
  ASSERT_TRUE(clock.is_valid());
  EXPECT_EQ(clock.axis_ns(15 * kSecond), 1005 * kSecond);
}

// The wall clock was set by 60 s before the processes began: theirs is the scale from after it.
TEST(NodeClock, AgreesWithTheProcessesAfterAStepThatTheyDidNotSee) {
  const std::vector<spool::AnchorRecord> anchors = {anchor(10, 1000), anchor(20, 1010), anchor(21, 1071),
                                                    anchor(30, 1080)};
  const NodeClock alone = NodeClock::fit(anchors, std::nullopt);
  EXPECT_EQ(alone.axis_ns(25 * kSecond), 1015 * kSecond);
  const NodeClock clock = NodeClock::fit(anchors, ClockReference{25 * kSecond, 1075 * kSecond});
  EXPECT_EQ(clock.axis_ns(25 * kSecond), 1075 * kSecond);
  EXPECT_EQ(clock.axis_ns(15 * kSecond), 1065 * kSecond) << "the axis is not torn";
}

TEST(NodeClock, IsNotValidWithoutAnchors) {
  EXPECT_FALSE(NodeClock::fit({}, ClockReference{1, 2}).is_valid());
}

TEST(NodeClock, NeverLeavesTheRangeThatCanBeSubtracted) {
  const std::vector<spool::AnchorRecord> anchors = {anchor(10, 1000), anchor(20, 1010)};
  const NodeClock clock = NodeClock::fit(anchors, ClockReference{10 * kSecond, 0});
  EXPECT_EQ(clock.axis_ns(5 * kSecond), 0);
  EXPECT_LE(clock.axis_ns(UINT64_MAX), AxisClock::kLastNs);
}

}  // namespace
}  // namespace jaxprof::clock
