// Against values that scipy.stats.mannwhitneyu (asymptotic, with continuity) gives, and against what must hold.
#include "merge/study/two_samples.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace jaxprof::study {
namespace {

std::vector<std::int64_t> around(double middle, double width, int n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> values(middle, width);
  std::vector<std::int64_t> sample;
  for (int i = 0; i < n; ++i) sample.push_back(std::llround(values(random)));
  return sample;
}

TEST(MannWhitney, GivesTheTextbooksP) {
  const std::vector<std::int64_t> a = {19, 22, 16, 29, 24, 20, 12, 11};
  const std::vector<std::int64_t> b = {20, 11, 17, 12, 13, 30, 31, 19};
  // Ranks of a with midranks sum up to 69, so U = 33; n = 16, four pairs of ties.
  EXPECT_NEAR(*mann_whitney_p(a, b), 0.9579, 1e-4);
  const std::vector<std::int64_t> c = {31, 32, 33, 34, 35, 36, 37, 38};
  EXPECT_NEAR(*mann_whitney_p(a, c), 0.000939, 1e-5);
}

TEST(MannWhitney, SaysNothingOfFewAndOneOfEquals) {
  const std::vector<std::int64_t> few(7, 1);
  const std::vector<std::int64_t> equal(9, 4);
  EXPECT_EQ(mann_whitney_p(few, equal), std::nullopt);
  EXPECT_EQ(mann_whitney_p(equal, equal), 1.0);
}

TEST(MedianRatioInterval, HoldsTheTruthInNineteenOfTwentySamples) {
  int held = 0;
  constexpr int kRounds = 200;
  for (std::uint64_t seed = 0; seed < kRounds; ++seed) {
    const auto a = around(1000, 50, 60, 2 * seed + 1);
    const auto b = around(1100, 80, 50, 2 * seed + 2);
    const auto interval = median_ratio_interval(a, b);
    ASSERT_TRUE(interval);
    if (!interval->excludes(1.1)) ++held;
  }
  EXPECT_GE(held, kRounds * 90 / 100);
}

TEST(MedianRatioInterval, IsTheSameForTheSameSamplesAndNarrowForManyValues) {
  const auto a = around(1000, 50, 20'000, 1);
  const auto b = around(1050, 50, 30'000, 2);
  const auto interval = median_ratio_interval(a, b);
  ASSERT_TRUE(interval);
  EXPECT_TRUE(interval->excludes(1));
  EXPECT_FALSE(interval->excludes(1.05));
  const auto again = median_ratio_interval(a, b);
  EXPECT_EQ(interval->low, again->low);
  EXPECT_EQ(interval->high, again->high);
}

TEST(MedianRatioInterval, NeedsEightValuesAndAMiddle) {
  const std::vector<std::int64_t> few(7, 1);
  const std::vector<std::int64_t> zeros(20, 0);
  const std::vector<std::int64_t> some(20, 5);
  EXPECT_EQ(median_ratio_interval(few, some), std::nullopt);
  EXPECT_EQ(median_ratio_interval(zeros, some), std::nullopt);
  EXPECT_TRUE(median_ratio_interval(some, zeros));
}

}  // namespace
}  // namespace jaxprof::study
