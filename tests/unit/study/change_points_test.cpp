#include "merge/study/change_points.h"

#include <gtest/gtest.h>

#include <random>

namespace jaxprof::study {
namespace {

std::vector<std::int64_t> steps(std::vector<std::pair<int, std::int64_t>> pieces, std::uint64_t seed = 1) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> lengths_ns;
  for (const auto& [n, length_ns] : pieces) {
    for (int i = 0; i < n; ++i) {
      lengths_ns.push_back(length_ns + static_cast<std::int64_t>(random() % 21) * length_ns / 2000 - length_ns / 200);
    }
  }
  return lengths_ns;
}

TEST(ChangePoints, FindsWhereStepsBecomeSlowerAndFasterAgain) {
  const auto changes = change_points(steps({{30, 1'000'000}, {25, 1'100'000}, {30, 1'000'000}}));
  ASSERT_EQ(changes.size(), 2U);
  EXPECT_EQ(changes[0].first, 30U);
  EXPECT_NEAR(changes[0].ratio, 1.1, 0.01);
  EXPECT_EQ(changes[1].first, 55U);
  EXPECT_NEAR(changes[1].ratio, 1 / 1.1, 0.01);
}

TEST(ChangePoints, TakesNoOddStepForAChange) {
  auto lengths_ns = steps({{60, 1'000'000}});
  lengths_ns[20] = 9'000'000;
  lengths_ns[21] = 9'000'000;
  EXPECT_TRUE(change_points(lengths_ns).empty());
}

TEST(ChangePoints, FindsNoneInNoise) {
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    EXPECT_TRUE(change_points(steps({{200, 1'000'000}}, seed)).empty()) << seed;
  }
}

TEST(ChangePoints, NeedsSteps) {
  EXPECT_TRUE(change_points({}).empty());
  EXPECT_TRUE(change_points(steps({{4, 100}, {3, 1000}})).empty());
  EXPECT_TRUE(change_points(steps({{20, 0}})).empty());
}

}  // namespace
}  // namespace jaxprof::study
