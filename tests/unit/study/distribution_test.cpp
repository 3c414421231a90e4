// Expected values are numpy's: numpy.percentile(values, q), numpy.std(values, ddof=1).
#include "merge/study/distribution.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace jaxprof::study
