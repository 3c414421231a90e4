#include "netsampler/clock/clock_readings.h"

#include <gtest/gtest.h>

#include <random>

#include "agent/base/clocks.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

std::int64_t system_raw() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

TEST(ReadClocks, LiesBetweenReadingsAroundItAndRawIsInTheMiddleOfItsBracket) {
  const std::int64_t raw = system_raw();
  const std::int64_t wall = clock_ns(CLOCK_REALTIME);
  const std::int64_t monotonic = clock_ns(CLOCK_MONOTONIC);
  const auto reading = read_clocks(system_raw);
  EXPECT_GE(reading.raw_ns, raw);
  EXPECT_LE(reading.raw_ns + reading.bracket_ns / 2, system_raw());
  EXPECT_GE(reading.wall_ns, wall);
  EXPECT_LE(reading.wall_ns, clock_ns(CLOCK_REALTIME));
  EXPECT_GE(reading.monotonic_ns, monotonic);
  EXPECT_LE(reading.monotonic_ns, clock_ns(CLOCK_MONOTONIC));
}

TEST(ReadClocks, KeepsTheNarrowestReading) {
  // Raw clocks of three readings, before and after: 900, 30 and 500 ns apart, and then no narrower one.
  const std::int64_t stamps[] = {1000, 1900, 2000, 2030, 3000, 3500, 4000, 5000, 6000, 7000, 8000, 9000};
  std::size_t next = 0;
  const auto reading = read_clocks([&] { return stamps[next++]; });
  EXPECT_EQ(reading.raw_ns, 2015);
  EXPECT_EQ(reading.bracket_ns, 30U);
}

class StepDetectorTest : public testing::Test {
 protected:
  bool is_step_at(std::int64_t raw_ns, std::int64_t wall_less_raw_ns, std::uint32_t bracket_ns = 60) {
    return detector_.is_step({raw_ns, raw_ns + wall_less_raw_ns, raw_ns, bracket_ns});
  }
  StepDetector detector_;
};

TEST_F(StepDetectorTest, TheFirstReadingIsNone) {
  EXPECT_FALSE(is_step_at(0, 1'700'000'000'000'000'000));
}

TEST_F(StepDetectorTest, SlewingAtTheKernelsFastestIsNone) {
  std::mt19937_64 random(3);
  std::int64_t offset_ns = 5'000'000'000;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const auto jitter_ns = static_cast<std::int64_t>(random() % 60) - 30;
    EXPECT_FALSE(is_step_at(i * 100 * kMillisecond, offset_ns + jitter_ns)) << i;
    offset_ns += 50'000;  // 500 ppm of 100 ms
  }
}

TEST_F(StepDetectorTest, AJumpOfEitherSignIsOneAndOnlyOnce) {
  EXPECT_FALSE(is_step_at(0, 0));
  EXPECT_TRUE(is_step_at(100 * kMillisecond, 500'000));
  EXPECT_FALSE(is_step_at(200 * kMillisecond, 500'000));
  EXPECT_TRUE(is_step_at(300 * kMillisecond, 398'000));
  EXPECT_FALSE(is_step_at(400 * kMillisecond, 398'000));
}

TEST_F(StepDetectorTest, WhatReadingsLeaveOpenIsNoStep) {
  EXPECT_FALSE(is_step_at(0, 0, 300'000));
  EXPECT_FALSE(is_step_at(100 * kMillisecond, 350'000, 60)) << "the reading before was torn";
  EXPECT_TRUE(is_step_at(200 * kMillisecond, 700'000, 60));
}

TEST_F(StepDetectorTest, ALongPauseAllowsForMore) {
  EXPECT_FALSE(is_step_at(0, 0));
  EXPECT_FALSE(is_step_at(10'000 * kMillisecond, 5'000'000)) << "10 s at 500 ppm";
  EXPECT_TRUE(is_step_at(10'100 * kMillisecond, 10'000'000));
}

}  // namespace
}  // namespace jaxprof::netsampler
