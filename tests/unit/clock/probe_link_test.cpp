#include "merge/clock/probe_link.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kA = 5'000'000'000'000;
constexpr std::int64_t kDifference = 1'234'567'890'123;

// A request from a and its reply when b's clock is ahead by kDifference and `rate` of what passed since kA.
ExchangeTimes exchange(std::int64_t after_ns, std::int64_t there_ns, std::int64_t back_ns, double rate = 0,
                       bool is_kernel = true) {
  const auto b_ns = [rate](std::int64_t a_ns) {
    return a_ns + kDifference + static_cast<std::int64_t>(rate * static_cast<double>(a_ns - kA));
  };
  const std::int64_t received_ns = kA + after_ns + there_ns;
  const std::int64_t answered_ns = received_ns + 10'000;
  ExchangeTimes times;
  times.from_a = {kA + after_ns, b_ns(received_ns), 0};
  times.from_b = {answered_ns + back_ns, b_ns(answered_ns), 0};
  times.round_trip_ns = there_ns + back_ns;
  times.is_kernel = is_kernel;
  return times;
}

std::int64_t lo_ns(const ProbeLink& link, double rate = 0) {
  const LinkBurst& burst = link.bursts().front();
  return burst.base_ns + static_cast<std::int64_t>(link.interval(burst, rate).lo);
}
std::int64_t hi_ns(const ProbeLink& link, double rate = 0) {
  const LinkBurst& burst = link.bursts().front();
  return burst.base_ns + static_cast<std::int64_t>(link.interval(burst, rate).hi);
}

TEST(ProbeLink, TakesTheBestPacketOfEachDirection) {
  ProbeLink link(0, 1);
  ASSERT_TRUE(link.add({exchange(0, 20'000, 900'000), exchange(1'000'000, 700'000, 30'000)}, 0, true));
  EXPECT_EQ(lo_ns(link), kDifference - 30'000);
  EXPECT_EQ(hi_ns(link), kDifference + 20'000);
  EXPECT_EQ(link.bursts().front().min_rtt_ns, 730'000U);
}

TEST(ProbeLink, KnowsTheIntervalForAnyRateAsIfAllPacketsWereThere) {
  test::SimRandom random(11);
  for (int turn = 0; turn < 50; ++turn) {
    const double rate = random.uniform(-100e-6, 100e-6);
    std::vector<ExchangeTimes> exchanges;
    for (int i = 0; i < 40; ++i) {
      exchanges.push_back(exchange(i * 2'000'000, static_cast<std::int64_t>(25'000 + random.exponential(20'000)),
                                   static_cast<std::int64_t>(25'000 + random.exponential(20'000)), rate));
    }
    ProbeLink link(0, 1);
    ASSERT_TRUE(link.add(exchanges, 0, true));
    const LinkBurst& burst = link.bursts().front();
    EXPECT_LT(burst.highs + burst.lows, 40);
    for (const double asked : {rate, 0.0, 300e-6}) {
      double hi = 1e18;
      double lo = -1e18;
      for (const ExchangeTimes& of : exchanges) {
        const auto level = [&](const Message& message) {
          return static_cast<double>(message.b_ns - message.a_ns - burst.base_ns) -
                 asked * static_cast<double>(message.a_ns - burst.a_ns);
        };
        hi = std::min(hi, level(of.from_a));
        lo = std::max(lo, level(of.from_b));
      }
      EXPECT_NEAR(link.interval(burst, asked).hi, hi, 1.1);
      EXPECT_NEAR(link.interval(burst, asked).lo, lo, 1.1);
    }
    const double truth_ns =
        static_cast<double>(kDifference - burst.base_ns) + rate * static_cast<double>(burst.a_ns - kA);
    EXPECT_LE(link.interval(burst, rate).lo, truth_ns + 2);
    EXPECT_GE(link.interval(burst, rate).hi, truth_ns - 2);
  }
}

TEST(ProbeLink, WidensByWhatTheStampsMayBeWrongBy) {
  ExchangeTimes times = exchange(0, 20'000, 30'000);
  times.from_a.error_ns = 100.5;
  times.from_b.error_ns = 200.5;
  ProbeLink link(0, 1);
  ASSERT_TRUE(link.add({times}, 0, true));
  EXPECT_EQ(hi_ns(link), kDifference + 20'101);
  EXPECT_EQ(lo_ns(link), kDifference - 30'201);
}

TEST(ProbeLink, PrefersKernelStampsUnlessFewHaveThem) {
  ProbeLink kernel(0, 1);
  ASSERT_TRUE(kernel.add({exchange(0, 20'000, 30'000), exchange(1'000'000, 1'000, 1'000, 0, false)}, 0, true));
  EXPECT_TRUE(kernel.bursts().front().is_kernel);
  EXPECT_EQ(kernel.bursts().front().exchanges, 1);
  EXPECT_EQ(hi_ns(kernel), kDifference + 20'000);
  ProbeLink user(0, 1);
  ASSERT_TRUE(user.add({exchange(0, 20'000, 30'000), exchange(1'000'000, 40'000, 40'000, 0, false),
                        exchange(2'000'000, 40'000, 40'000, 0, false)},
                       0, true));
  EXPECT_FALSE(user.bursts().front().is_kernel);
  EXPECT_EQ(user.bursts().front().exchanges, 3);
}

TEST(ProbeLink, RejectsABurstAcrossAStep) {
  ExchangeTimes late = exchange(1'000'000, 20'000, 30'000);
  late.from_a.b_ns -= 500'000;
  late.from_b.b_ns -= 500'000;
  ProbeLink link(0, 1);
  EXPECT_FALSE(link.add({exchange(0, 20'000, 30'000), late}, 0, true));
  EXPECT_FALSE(link.add({}, 0, true));
  EXPECT_TRUE(link.bursts().empty());
}

TEST(ProbeLink, OrdersBurstsWhateverCameFirst) {
  std::vector<std::pair<std::int64_t, std::uint32_t>> bursts;
  for (std::uint32_t i = 0; i < 20; ++i) bursts.emplace_back(i / 2 * 1'000'000, i);
  std::vector<std::uint32_t> first;
  for (unsigned seed = 0; seed < 5; ++seed) {
    std::shuffle(bursts.begin(), bursts.end(), std::mt19937(seed));
    ProbeLink link(0, 1);
    for (const auto& [after_ns, number] : bursts) {
      ASSERT_TRUE(link.add({exchange(after_ns, 20'000, 30'000)}, number, number % 2 == 0));
    }
    link.put_in_order();
    std::vector<std::uint32_t> numbers;
    for (const LinkBurst& burst : link.bursts()) numbers.push_back(burst.number);
    if (seed == 0) first = numbers;
    EXPECT_EQ(numbers, first);
  }
}

}  // namespace
}  // namespace jaxprof::clock
