#include "merge/clock/gpu_clock.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kAxis = 1000 * kSecond;  // where counter 0 lies

// The axis: one tick is one nanosecond.
AxisClock wall() {
  std::vector<spool::AnchorRecord> anchors;
  for (std::int64_t s = 0; s <= 100; s += 10) {
    anchors.push_back({static_cast<std::uint64_t>(s * kSecond), s * kSecond, kAxis + s * kSecond, s * kSecond, 20});
  }
  return AxisClock::fit(anchors);
}

spool::GpuClockState reading(std::int64_t axis_ns, std::int64_t gpu_ns, std::uint64_t bracket = 100) {
  spool::GpuClockState state{};
  state.counter = static_cast<std::uint64_t>(axis_ns - kAxis);
  state.gpu_ns = gpu_ns;
  state.bracket = bracket;
  return state;
}

TEST(GpuClock, FollowsAClockThatIsOffAndDrifts) {
  // 5 s behind and 50 ppm fast.
  const auto gpu_of = [](std::int64_t axis_ns) {
    return axis_ns - 5 * kSecond + static_cast<std::int64_t>(50e-6 * static_cast<double>(axis_ns - kAxis));
  };
  std::vector<spool::GpuClockState> readings;
  for (int i = 0; i <= 40; ++i) {
    const std::int64_t at = kAxis + i * kSecond / 4;
    readings.push_back(reading(at, gpu_of(at)));
  }
  const auto model = GpuClockModel::fit(readings, wall());
  ASSERT_TRUE(model.is_valid());
  EXPECT_EQ(model.steps(), 0u);
  EXPECT_LE(model.residual_ns(), 2);
  std::mt19937_64 random(7);
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t at = kAxis + static_cast<std::int64_t>(random() % (10 * kSecond));
    EXPECT_NEAR(static_cast<double>(model.at(gpu_of(at)).axis_ns - at), 0, 2);
  }
}

TEST(GpuClock, ASlewBetweenReadingsIsFollowedByPieces) {
  // 400 ppm for 2 s, then straight.
  const auto gpu_of = [](std::int64_t axis_ns) {
    const std::int64_t slewed = std::min<std::int64_t>(axis_ns - kAxis, 2 * kSecond);
    return axis_ns + static_cast<std::int64_t>(400e-6 * static_cast<double>(slewed));
  };
  std::vector<spool::GpuClockState> readings;
  for (int i = 0; i <= 40; ++i) {
    const std::int64_t at = kAxis + i * kSecond / 4;
    readings.push_back(reading(at, gpu_of(at)));
  }
  const auto model = GpuClockModel::fit(readings, wall());
  EXPECT_EQ(model.steps(), 0u);
  for (std::int64_t at = kAxis; at < kAxis + 5 * kSecond; at += 10'000'019) {
    EXPECT_NEAR(static_cast<double>(model.at(gpu_of(at)).axis_ns - at), 0, 2);
  }
}

TEST(GpuClock, AStepForwardDividesTheReadings) {
  constexpr std::int64_t kStep = 3 * kSecond;
  const auto gpu_of = [](std::int64_t axis_ns) { return axis_ns + (axis_ns >= kAxis + 5 * kSecond ? kStep : 0); };
  std::vector<spool::GpuClockState> readings;
  for (int i = 0; i <= 40; ++i) {
    const std::int64_t at = kAxis + 1 + i * kSecond / 4;
    readings.push_back(reading(at, gpu_of(at)));
  }
  const auto model = GpuClockModel::fit(readings, wall());
  EXPECT_EQ(model.steps(), 1u);
  for (std::int64_t at = kAxis; at < kAxis + 10 * kSecond; at += 10'000'019) {
    const auto instant = model.at(gpu_of(at));
    EXPECT_EQ(instant.axis_ns, at);
    EXPECT_FALSE(instant.is_ambiguous);
  }
}

TEST(GpuClock, AfterAStepBackwardDoubtfulStampsAreTold) {
  constexpr std::int64_t kStep = -2 * kSecond;
  const auto gpu_of = [](std::int64_t axis_ns) { return axis_ns + (axis_ns >= kAxis + 5 * kSecond ? kStep : 0); };
  std::vector<spool::GpuClockState> readings;
  for (int i = 0; i <= 40; ++i) {
    const std::int64_t at = kAxis + 1 + i * kSecond / 4;
    readings.push_back(reading(at, gpu_of(at)));
  }
  const auto model = GpuClockModel::fit(readings, wall());
  EXPECT_EQ(model.steps(), 1u);
  std::size_t ambiguous = 0;
  for (std::int64_t at = kAxis; at < kAxis + 10 * kSecond; at += 10'000'019) {
    const auto instant = model.at(gpu_of(at));
    if (instant.is_ambiguous) {
      ++ambiguous;
    } else {
      EXPECT_EQ(instant.axis_ns, at);
    }
  }
  EXPECT_GT(ambiguous, 300u) << "the two seconds before the step and after it look alike";
  EXPECT_LT(ambiguous, 480u);
}

TEST(GpuClock, AReadingThatWasInterruptedIsLeftOut) {
  std::vector<spool::GpuClockState> readings;
  for (int i = 0; i <= 20; ++i) {
    const std::int64_t at = kAxis + i * kSecond / 4;
    const bool is_bad = i == 10;
    readings.push_back(reading(at, at + (is_bad ? 30'000 : 0), is_bad ? 60'000 : 100));
  }
  const auto model = GpuClockModel::fit(readings, wall());
  EXPECT_EQ(model.at(kAxis + 10 * kSecond / 4).axis_ns, kAxis + 10 * kSecond / 4);
  EXPECT_EQ(model.residual_ns(), 0);
}

TEST(GpuClock, WithoutReadingsTheWallClockStandsForIt) {
  EXPECT_FALSE(GpuClockModel::fit(std::vector<spool::GpuClockState>{}, wall()).is_valid());
  const std::vector<spool::AnchorRecord> anchors = {{0, 0, kAxis, 0, 20}, {kSecond, kSecond, kAxis + kSecond, 0, 20}};
  const auto model = GpuClockModel::fit(anchors, wall());
  ASSERT_TRUE(model.is_valid());
  EXPECT_EQ(model.at(kAxis + 7).axis_ns, kAxis + 7);
  EXPECT_TRUE(std::isnan(model.residual_ns()));
}

TEST(GpuClock, HostileReadingsStayWithinTheAxis) {
  const std::int64_t last = AxisClock::kLastNs;
  for (const std::int64_t gpu_ns : {std::int64_t{1}, last, kAxis}) {
    const auto model = GpuClockModel::fit(
        std::vector<spool::GpuClockState>{reading(kAxis, gpu_ns), reading(kAxis + kSecond, last)}, wall());
    for (const std::int64_t stamp : {INT64_MIN, std::int64_t{-1}, std::int64_t{0}, last, INT64_MAX}) {
      EXPECT_GE(model.at(stamp).axis_ns, 0);
      EXPECT_LE(model.at(stamp).axis_ns, last);
    }
  }
}

}  // namespace
}  // namespace jaxprof::clock
