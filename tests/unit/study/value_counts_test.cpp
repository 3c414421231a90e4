#include "merge/study/value_counts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "merge/study/distribution.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {
namespace {

TEST(ValueCounts, DescribesASampleAsASortedListDoes) {
  std::mt19937_64 random{2026};
  for (int round = 0; round < 200; ++round) {
    ValueCounts counts;
    std::vector<std::int64_t> values;
    const std::size_t n = 1 + random() % 500;
    const std::int64_t range = std::int64_t{1} << (1 + random() % 40);
    for (std::size_t i = 0; i < n; ++i) {
      values.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(range)));
      counts.add(values.back());
    }
    const Distribution expected = describe(values);
    const ValueCounts::Shape shape = counts.shape();
    EXPECT_EQ(counts.n(), n);
    EXPECT_EQ(counts.min(), *expected.min);
    EXPECT_EQ(counts.max(), *expected.max);
    EXPECT_DOUBLE_EQ(shape.p50, *expected.p50);
    EXPECT_DOUBLE_EQ(shape.mean, *expected.mean);
    EXPECT_NEAR(shape.std, expected.std.value_or(0), 1e-9 * expected.std.value_or(0));
    EXPECT_TRUE(counts.is_exact());
  }
}

TEST(ValueCounts, RoundsByLessThanItSaysAndKeepsWhatItPromises) {
  std::mt19937_64 random{7};
  ValueCounts exact;
  ValueCounts rounded;
  for (int i = 0; i < 200'000; ++i) {
    const auto value = static_cast<std::int64_t>(random() >> (1 + random() % 60));
    exact.add(value);
    rounded.add(value);
    if (i == 1000) rounded.round();
  }
  EXPECT_FALSE(rounded.is_exact());
  EXPECT_LT(rounded.n_entries(), 55'000U);
  EXPECT_EQ(rounded.n(), exact.n());
  EXPECT_EQ(rounded.total(), exact.total());
  EXPECT_EQ(rounded.min(), exact.min());
  EXPECT_EQ(rounded.max(), exact.max());
  EXPECT_NEAR(rounded.shape().p50, exact.shape().p50, kRoundingShare * exact.shape().p50);
}

TEST(ValueCounts, AddsSamplesUp) {
  ValueCounts a;
  ValueCounts b;
  for (const std::int64_t value : {5, 1, 9}) a.add(value);
  for (const std::int64_t value : {1, 12}) b.add(value);
  a.add_all(b);
  a.add_all(ValueCounts{});
  EXPECT_EQ(a.n(), 5U);
  EXPECT_EQ(a.total(), 28);
  EXPECT_EQ(a.max(), 12);
  EXPECT_DOUBLE_EQ(a.shape().p50, 5);
}

TEST(ValueCounts, HoldsTheLargestTimesThereAre) {
  ValueCounts counts;
  for (int i = 0; i < 3; ++i) counts.add(std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(counts.total(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(counts.max(), std::numeric_limits<std::int64_t>::max());
  counts.round();
  counts.shape();
}

TEST(KeepSmall, RoundsTheLargestTablesOnly) {
  ValueCounts large;
  ValueCounts small;
  for (std::int64_t i = 0; i < 200'000; ++i) large.add(1'000'000 + i);
  for (std::int64_t i = 0; i < 100; ++i) small.add(1'000'000 + i);
  keep_small({&small, &large}, 200'100);
  EXPECT_TRUE(large.is_exact());
  keep_small({&small, &large}, 100'000);
  EXPECT_FALSE(large.is_exact());
  EXPECT_TRUE(small.is_exact());
}

}  // namespace
}  // namespace jaxprof::study
