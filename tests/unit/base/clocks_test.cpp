#include "agent/base/clocks.h"

#include <gtest/gtest.h>

namespace jaxprof {
namespace {

TEST(ChooseEventClock, IsOneThatCanBeRead) {
  const ClockId clock = choose_event_clock();
  EXPECT_TRUE(clock == ClockId::kTsc || clock == ClockId::kCntvct || clock == ClockId::kMonotonicRaw);
  EXPECT_EQ(choose_event_clock(), clock);
}

TEST(ReadEventClock, NeverGoesBack) {
  const ClockId clock = choose_event_clock();
  std::uint64_t last = read_event_clock(clock);
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t now = read_event_clock(clock);
    ASSERT_GE(now, last);
    last = now;
  }
}

TEST(TakeAnchor, LiesBetweenReadingsOfEachClockBeforeAndAfter) {
  for (const ClockId clock : {choose_event_clock(), ClockId::kMonotonicRaw}) {
    const std::uint64_t counter_before = read_event_clock(clock);
    const std::int64_t raw_before_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    const std::int64_t realtime_before_ns = clock_ns(CLOCK_REALTIME);
    const ClockAnchor anchor = take_anchor(clock);
    EXPECT_GE(anchor.counter, counter_before);
    EXPECT_LE(anchor.counter, read_event_clock(clock));
    EXPECT_GE(anchor.monotonic_raw_ns, raw_before_ns);
    EXPECT_LE(anchor.monotonic_raw_ns, clock_ns(CLOCK_MONOTONIC_RAW));
    EXPECT_GE(anchor.realtime_ns, realtime_before_ns);
    EXPECT_LE(anchor.realtime_ns, clock_ns(CLOCK_REALTIME));
    EXPECT_LE(anchor.monotonic_ns, clock_ns(CLOCK_MONOTONIC));
  }
}

TEST(TakeAnchor, PutsTheOtherClocksIntoItsBracket) {
  // With MONOTONIC_RAW as event clock the counter and the raw reading are in the same unit.
  const ClockAnchor anchor = take_anchor(ClockId::kMonotonicRaw);
  const auto raw_ns = static_cast<std::uint64_t>(anchor.monotonic_raw_ns);
  EXPECT_LE(anchor.counter - anchor.bracket / 2, raw_ns);
  EXPECT_GE(anchor.counter + anchor.bracket - anchor.bracket / 2, raw_ns);
}

}  // namespace
}  // namespace jaxprof
