#include "merge/clock/axis_clock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

namespace jaxprof::clock {
namespace {

using spool::AnchorRecord;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kEpoch = 1'700'000'000 * kSecond;

// A node whose counter ticks at `hz` and whose wall clock drifts and is stepped as the test says.
class Node {
 public:
  explicit Node(double hz = 2.9e9) : hz_(hz) {}
  void advance(std::int64_t ns, double drift_ppm = 0) {
    raw_ns_ += ns;
    wall_ns_ += static_cast<double>(ns) * (1 + drift_ppm * 1e-6);
  }
  void step(std::int64_t ns) { wall_ns_ += static_cast<double>(ns); }
  std::uint64_t counter() const {
    return kFirstCounter + static_cast<std::uint64_t>(std::llround(static_cast<double>(raw_ns_) * hz_ / 1e9));
  }
  std::int64_t wall_ns() const { return kEpoch + std::llround(wall_ns_); }
  AnchorRecord anchor(std::int64_t noise_ns = 0) const {
    return {counter(), raw_ns_ + 5000, wall_ns() + noise_ns, raw_ns_, 60};
  }

 private:
  static constexpr std::uint64_t kFirstCounter = 1ULL << 40;
  double hz_;
  std::int64_t raw_ns_ = 0;
  double wall_ns_ = 0;
};

// How far the model is from the truth, ns.
double error_ns(const AxisClock& model, std::uint64_t counter, std::int64_t wall_ns) {
  return static_cast<double>(model.axis_ns(counter) - wall_ns);
}

TEST(AxisClock, MapsNothingWithoutAnchors) {
  EXPECT_FALSE(AxisClock::fit({}).is_valid());
}

TEST(AxisClock, OneAnchorCountsTicksAsNanoseconds) {
  const std::vector<AnchorRecord> anchors = {{1000, 5, kEpoch, 5, 10}};
  const AxisClock model = AxisClock::fit(anchors);
  ASSERT_TRUE(model.is_valid());
  EXPECT_EQ(model.axis_ns(1000), kEpoch);
  EXPECT_EQ(model.axis_ns(1300), kEpoch + 300);
  EXPECT_EQ(model.axis_ns(400), kEpoch - 600);
}

TEST(AxisClock, IsExactAtAnchorsAndBetweenThemOnASteadyClock) {
  Node node;
  std::vector<AnchorRecord> anchors;
  std::vector<std::pair<std::uint64_t, std::int64_t>> truth;
  for (int i = 0; i < 600; ++i) {
    if (i % 10 == 0) anchors.push_back(node.anchor());
    truth.emplace_back(node.counter(), node.wall_ns());
    node.advance(kSecond / 10);
  }
  const AxisClock model = AxisClock::fit(anchors);
  for (const auto& [counter, wall_ns] : truth) ASSERT_NEAR(error_ns(model, counter, wall_ns), 0, 2);
  EXPECT_TRUE(model.steps().empty());
}

TEST(AxisClock, TakesAnchorsInAnyOrderAndTwice) {
  Node node;
  std::vector<AnchorRecord> anchors;
  for (int i = 0; i < 50; ++i, node.advance(kSecond)) anchors.push_back(node.anchor());
  const AxisClock sorted = AxisClock::fit(anchors);
  anchors.insert(anchors.end(), anchors.begin(), anchors.begin() + 20);
  std::shuffle(anchors.begin(), anchors.end(), std::mt19937(6));
  const AxisClock shuffled = AxisClock::fit(anchors);
  for (const AnchorRecord& anchor : anchors) {
    EXPECT_EQ(shuffled.axis_ns(anchor.counter + 12345), sorted.axis_ns(anchor.counter + 12345));
  }
}

TEST(AxisClock, FollowsAnyDriftWithin500Ppm) {
  std::mt19937 random(7);
  std::uniform_real_distribution<double> ppm(-500, 500);
  for (int round = 0; round < 30; ++round) {
    Node node(1e9 + static_cast<double>(random() % 3'000'000'000U));
    std::vector<AnchorRecord> anchors;
    std::vector<std::pair<std::uint64_t, std::int64_t>> truth;
    for (int second = 0; second < 60; ++second) {
      const double drift = ppm(random);
      for (int tenth = 0; tenth < 10; ++tenth) {
        // One a second, and sometimes others close by, as processes of one node give them.
        if (tenth == 0 || random() % 5 == 0) anchors.push_back(node.anchor(static_cast<std::int64_t>(random() % 50)));
        truth.emplace_back(node.counter(), node.wall_ns());
        node.advance(kSecond / 10, drift);
      }
    }
    anchors.push_back(node.anchor());
    const AxisClock model = AxisClock::fit(anchors);
    EXPECT_TRUE(model.steps().empty());
    // Anchors are up to two seconds apart after thinning, and the drift changes by 1000 ppm at worst in between.
    for (const auto& [counter, wall_ns] : truth) ASSERT_NEAR(error_ns(model, counter, wall_ns), 0, 600'000);
  }
}

TEST(AxisClock, NeverRunsBackwards) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    Node node;
    std::vector<AnchorRecord> anchors;
    for (int i = 0; i < 20; ++i) {
      anchors.push_back(node.anchor(static_cast<std::int64_t>(random() % 4000) - 2000));
      if (random() % 4 == 0) node.step(static_cast<std::int64_t>(random() % 10'000'000'000) - 5'000'000'000);
      node.advance(static_cast<std::int64_t>(random() % (random() % 2 == 0 ? 3000 : 2'000'000'000)) + 1);
    }
    const AxisClock model = AxisClock::fit(anchors);
    std::uint64_t counter = anchors.front().counter - 1'000'000;
    std::int64_t before = model.axis_ns(counter);
    for (int i = 0; i < 2000; ++i) {
      counter += random() % 20'000'000;
      const std::int64_t now = model.axis_ns(counter);
      ASSERT_GE(now, before);
      before = now;
    }
  }
}

TEST(AxisClock, TakesStepsOutAndReportsThem) {
  for (const std::int64_t step_ns : {3 * kSecond, -3 * kSecond, 5'000'000L, -5'000'000L}) {
    Node node;
    Node unstepped;
    std::vector<AnchorRecord> anchors;
    std::vector<std::pair<std::uint64_t, std::int64_t>> truth;
    for (int i = 0; i < 20; ++i) {
      if (i == 10) node.step(step_ns);
      anchors.push_back(node.anchor());
      truth.emplace_back(unstepped.counter(), unstepped.wall_ns());
      node.advance(kSecond, 20);
      unstepped.advance(kSecond, 20);
    }
    const AxisClock model = AxisClock::fit(anchors);
    ASSERT_EQ(model.steps().size(), 1u);
    EXPECT_NEAR(static_cast<double>(model.steps()[0].size_ns - step_ns), 0, 25'000);  // less a second's drift
    EXPECT_EQ(model.steps()[0].realtime_ns, anchors[10].realtime_ns);
    for (const auto& [counter, wall_ns] : truth) ASSERT_NEAR(error_ns(model, counter, wall_ns), 0, 25'000);
  }
}

TEST(AxisClock, ASlewIsNoStep) {
  Node node;
  std::vector<AnchorRecord> anchors;
  for (int i = 0; i < 100; ++i, node.advance(kSecond, i < 50 ? 499 : -499)) anchors.push_back(node.anchor());
  EXPECT_TRUE(AxisClock::fit(anchors).steps().empty());
}

TEST(AxisClock, ReachesBeyondItsAnchorsByTheNearestRate) {
  Node node;
  std::vector<AnchorRecord> anchors;
  const std::uint64_t before = node.counter();
  const std::int64_t before_ns = node.wall_ns();
  node.advance(kSecond);
  for (int i = 0; i < 5; ++i, node.advance(kSecond)) anchors.push_back(node.anchor());
  node.advance(kSecond);
  const AxisClock model = AxisClock::fit(anchors);
  EXPECT_NEAR(error_ns(model, before, before_ns), 0, 5);
  EXPECT_NEAR(error_ns(model, node.counter(), node.wall_ns()), 0, 5);
}

// Anchors come from files; a damaged one must not be undefined behaviour.
TEST(AxisClock, SurvivesAnchorsOfAnyValue) {
  std::mt19937_64 random(9);
  const std::int64_t extremes[] = {INT64_MIN, -1, 0, 1, INT64_MAX};
  for (int round = 0; round < 2000; ++round) {
    std::vector<AnchorRecord> anchors;
    for (std::uint64_t i = 0; i < 1 + random() % 6; ++i) {
      const auto any = [&] { return random() % 2 == 0 ? extremes[random() % 5] : static_cast<std::int64_t>(random()); };
      anchors.push_back({static_cast<std::uint64_t>(any()), any(), any(), any(), random()});
    }
    const AxisClock model = AxisClock::fit(anchors);
    if (!model.is_valid()) continue;
    for (const std::uint64_t counter : {std::uint64_t{0}, random(), UINT64_MAX}) {
      const std::int64_t ns = model.axis_ns(counter);
      EXPECT_GE(ns, 0);
      EXPECT_LE(ns, AxisClock::kLastNs);
    }
  }
}

}  // namespace
}  // namespace jaxprof::clock
