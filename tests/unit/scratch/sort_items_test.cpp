#include "merge/scratch/sort_items.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace jaxprof::scratch {
namespace {

using testing::ElementsAre;

TEST(SortedPlaces, KeepsEqualNumbersInOrder) {
  const std::vector<std::int64_t> numbers = {5, -1, 5, INT64_MIN, -1, INT64_MAX, 0};
  EXPECT_THAT(sorted_places(std::span<const std::int64_t>(numbers)), ElementsAre(3, 1, 4, 6, 0, 2, 5));
}

TEST(SortedPlaces, AreThoseOfAStableSort) {
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> numbers(random() % 2000);
    for (std::uint64_t& number : numbers) number = random() >> random() % 64;
    if (seed % 4 == 0) std::sort(numbers.begin(), numbers.end());
    std::vector<std::size_t> expected(numbers.size());
    std::iota(expected.begin(), expected.end(), std::size_t{0});
    std::stable_sort(expected.begin(), expected.end(),
                     [&numbers](std::size_t a, std::size_t b) { return numbers[a] < numbers[b]; });
    ASSERT_EQ(sorted_places(std::span<const std::uint64_t>(numbers)), expected) << seed;
  }
}

}  // namespace
}  // namespace jaxprof::scratch
