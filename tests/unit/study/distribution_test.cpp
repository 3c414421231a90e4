// Expected values are numpy's: numpy.percentile(values, q), numpy.std(values, ddof=1).
#include "merge/study/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include <numeric>

namespace jaxprof::study {
namespace {

std::vector<std::int64_t> first_numbers(std::size_t n) {
  std::vector<std::int64_t> values(n);
  std::iota(values.begin(), values.end(), 1);
  return values;
}

TEST(Percentile, InterpolatesAsNumpyDoes) {
  const std::vector<std::int64_t> values = {3, 7, 8, 20, 31, 100};
  EXPECT_DOUBLE_EQ(percentile(values, 0.00), 3);
  EXPECT_DOUBLE_EQ(percentile(values, 0.05), 4);
  EXPECT_DOUBLE_EQ(percentile(values, 0.25), 7.25);
  EXPECT_DOUBLE_EQ(percentile(values, 0.50), 14);
  EXPECT_DOUBLE_EQ(percentile(values, 0.75), 28.25);
  EXPECT_DOUBLE_EQ(percentile(values, 0.95), 82.75);
  EXPECT_DOUBLE_EQ(percentile(values, 1.00), 100);
}

TEST(Percentile, IsTheValueItselfWhenThereIsOnlyOne) {
  const std::vector<std::int64_t> values = {42};
  EXPECT_DOUBLE_EQ(percentile(values, 0.01), 42);
  EXPECT_DOUBLE_EQ(percentile(values, 0.99), 42);
}

TEST(Percentile, TakesAnyTwoNumbers) {
  const std::vector<std::int64_t> values = {INT64_MIN, INT64_MAX};
  EXPECT_DOUBLE_EQ(percentile(values, 0.5), 0);
}

TEST(Describe, SortsWhatItGets) {
  const Distribution d = describe({100, 3, 31, 8, 20, 7});
  EXPECT_EQ(d.n, 6U);
  EXPECT_EQ(d.min, 3);
  EXPECT_EQ(d.max, 100);
  EXPECT_DOUBLE_EQ(*d.p50, 14);
  EXPECT_NEAR(*d.mean, 28.166666666666668, 1e-12);
  EXPECT_NEAR(*d.std, 36.66833329545627, 1e-9);
}

TEST(Describe, HasNothingToSayOfNothing) {
  const Distribution d = describe({});
  EXPECT_EQ(d.n, 0U);
  EXPECT_FALSE(d.min || d.p50 || d.mean || d.std || d.p05 || d.p01);
}

TEST(Describe, HasNoDeviationOfOneValue) {
  EXPECT_FALSE(describe({5}).std);
}

TEST(Describe, ShowsATailOnlyWhenTheSampleHasOne) {
  EXPECT_FALSE(describe(first_numbers(19)).p05);
  EXPECT_FALSE(describe(first_numbers(19)).p95);
  EXPECT_DOUBLE_EQ(*describe(first_numbers(20)).p05, 1.95);
  EXPECT_DOUBLE_EQ(*describe(first_numbers(20)).p95, 19.05);
  EXPECT_FALSE(describe(first_numbers(99)).p01);
  EXPECT_FALSE(describe(first_numbers(99)).p99);
  EXPECT_DOUBLE_EQ(*describe(first_numbers(100)).p01, 1.99);
  EXPECT_DOUBLE_EQ(*describe(first_numbers(100)).p99, 99.01);
}

// Positions that are selected, not sorted, are those of the sorted sample.
TEST(Distribution, SelectsWhatSortingWouldFind) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> values(1 + random() % 300);
    for (std::int64_t& value : values) value = static_cast<std::int64_t>(random() % (round % 2 == 0 ? 10 : 1'000'000));
    std::vector<std::int64_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const Distribution d = describe(values);
    EXPECT_EQ(d.p50, percentile(sorted, 0.5));
    EXPECT_EQ(d.p25, percentile(sorted, 0.25));
    EXPECT_EQ(d.p75, percentile(sorted, 0.75));
    if (d.n >= kMinForP05) {
      EXPECT_EQ(d.p95, percentile(sorted, 0.95));
    }
    if (d.n >= kMinForP01) {
      EXPECT_EQ(d.p99, percentile(sorted, 0.99));
    }
    if (d.n >= kMinForP01) {
      EXPECT_EQ(d.p01, percentile(sorted, 0.01));
    }
  }
}

TEST(Width, IsRelativeToTheMiddle) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 1; i <= 101; ++i) values.push_back(i);
  const Distribution d = describe(values);
  const Width w = width_of(d, values);
  EXPECT_DOUBLE_EQ(*w.iqr, 50);
  EXPECT_DOUBLE_EQ(*w.qcd, 50.0 / 102);
  EXPECT_DOUBLE_EQ(*w.cv, *d.std / 51);
  EXPECT_DOUBLE_EQ(*w.tail, 100.0 / 51);
  EXPECT_DOUBLE_EQ(*w.span, 90.0 / 51);
  EXPECT_DOUBLE_EQ(*w.rcv, 1.4826 * 25 / 51);
}

TEST(Width, KnowsTwoModesFromOne) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> around(0, 20);
  std::vector<std::int64_t> one;
  std::vector<std::int64_t> two;
  for (int i = 0; i < 1000; ++i) {
    one.push_back(1000 + std::lround(around(random)));
    two.push_back((i % 2 == 0 ? 1000 : 2000) + std::lround(around(random)));
  }
  EXPECT_LT(*width_of(describe(one), one).sarle, kUniformSarle);
  EXPECT_GT(*width_of(describe(two), two).sarle, kUniformSarle);
}

TEST(Width, SaysNothingOfTooFewOrOfZeros) {
  std::vector<std::int64_t> zeros(60, 0);
  const Width w = width_of(describe(zeros), zeros);
  EXPECT_EQ(w.cv, std::nullopt);
  EXPECT_EQ(w.rcv, std::nullopt);
  EXPECT_EQ(w.sarle, std::nullopt);
}

}  // namespace
}  // namespace jaxprof::study
