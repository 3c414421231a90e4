#include "merge/report/down_sampling.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace jaxprof::report {
namespace {

using study::TimeSpan;
using testing::ElementsAre;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

TEST(ExtremesByBin, KeepsFewPointsAsTheyAre) {
  const std::vector<std::int64_t> at = {1, 2, 3}, value = {5, 5, 5};
  EXPECT_THAT(extremes_by_bin(at, value, 2), ElementsAre(0, 1, 2));
}

TEST(ExtremesByBin, KeepsTheLeastAndTheLargestOfEachStretchInOrderOfTime) {
  const std::vector<std::int64_t> at = {0, 1, 2, 3, 4, 5, 6, 7};
  const std::vector<std::int64_t> value = {3, 9, 1, 2, 0, 0, 0, 7};
  EXPECT_THAT(extremes_by_bin(at, value, 2), ElementsAre(1, 2, 4, 7));
}

TEST(ExtremesByBin, NeverLosesAnExtremeOrOrder) {
  std::mt19937_64 random{3};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::int64_t> at, value;
    const std::size_t n = 1 + random() % 500;
    std::int64_t t = static_cast<std::int64_t>(random() % 1000) - 500;
    for (std::size_t i = 0; i < n; ++i) {
      t += static_cast<std::int64_t>(random() % 100);
      at.push_back(t);
      value.push_back(static_cast<std::int64_t>(random() % 2001) - 1000);
    }
    const std::size_t n_bins = 1 + random() % 20;
    const auto kept = extremes_by_bin(at, value, n_bins);
    ASSERT_LE(kept.size(), std::max<std::size_t>(2 * n_bins, std::min(n, 2 * n_bins)));
    ASSERT_TRUE(std::is_sorted(kept.begin(), kept.end()));
    ASSERT_EQ(std::adjacent_find(kept.begin(), kept.end()), kept.end());
    const auto of_kept = [&](auto pick) { return value[pick(kept)]; };
    const auto less = [&](std::size_t a, std::size_t b) { return value[a] < value[b]; };
    EXPECT_EQ(of_kept([&](const auto& k) { return *std::min_element(k.begin(), k.end(), less); }),
              *std::min_element(value.begin(), value.end()));
    EXPECT_EQ(of_kept([&](const auto& k) { return *std::max_element(k.begin(), k.end(), less); }),
              *std::max_element(value.begin(), value.end()));
  }
}

TEST(ExtremesByBin, TakesTimesAtTheEndsOfTheAxis) {
  std::vector<std::int64_t> at = {std::numeric_limits<std::int64_t>::min(), -1, 0, 1,
                                  std::numeric_limits<std::int64_t>::max()};
  const std::vector<std::int64_t> value = {1, 2, 3, 4, 5};
  EXPECT_FALSE(extremes_by_bin(at, value, 2).empty());
}

TEST(FarthestOfColumns, KeepsWhatIsFarthestFromZeroWithItsSign) {
  const std::vector<double> values = {1, -5, 2, kNone, kNone, 0};
  const auto kept = farthest_of_columns(values, 2, 3, 2);
  ASSERT_EQ(kept.size(), 4U);
  EXPECT_EQ(kept[0], -5);
  EXPECT_EQ(kept[1], 2);
  EXPECT_TRUE(std::isnan(kept[2]));
  EXPECT_EQ(kept[3], 0);
}

TEST(ColumnsPerBin, LeavesAtMostSoMany) {
  EXPECT_EQ(columns_per_bin(0, 10), 1U);
  EXPECT_EQ(columns_per_bin(10, 10), 1U);
  EXPECT_EQ(columns_per_bin(11, 10), 2U);
  EXPECT_EQ(columns_per_bin(1000, 7), 143U);
}

TEST(JoinedSpans, JoinsWhatIsCloseAndLosesNone) {
  const auto joined = joined_spans({{50, 60}, {0, 10}, {12, 20}, {61, 61}}, 2);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].begin_ns, 0);
  EXPECT_EQ(joined[0].end_ns, 20);
  EXPECT_EQ(joined[1].begin_ns, 50);
  EXPECT_EQ(joined[1].end_ns, 61);
}

TEST(JoinedSpans, KeepsTheLongerOfOneInsideTheOther) {
  const auto joined = joined_spans({{0, 100}, {10, 20}, {200, 200}}, 5);
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].end_ns, 100);
  EXPECT_EQ(joined[1].begin_ns, 200);
}

}  // namespace
}  // namespace jaxprof::report
