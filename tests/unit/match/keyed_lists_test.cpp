#include "merge/match/keyed_lists.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <random>

namespace jaxprof::match {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(KeyedLists, KeepsTheOrderInWhichValuesCame) {
  KeyedLists<int> lists;
  lists.add(7, 3);
  lists.add(UINT64_MAX, 1);
  lists.add(7, 2);
  lists.add(0, 9);
  lists.settle();
  EXPECT_THAT(lists.of(7), ElementsAre(3, 2));
  EXPECT_THAT(lists.of(UINT64_MAX), ElementsAre(1));
  EXPECT_THAT(lists.of(0), ElementsAre(9));
  EXPECT_THAT(lists.of(8), IsEmpty());
}

TEST(KeyedLists, WithoutAnythingHasNothing) {
  KeyedLists<int> lists;
  EXPECT_THAT(lists.of(0), IsEmpty());
  lists.settle();
  EXPECT_THAT(lists.of(0), IsEmpty());
}

TEST(KeyedLists, SortsEachListAndKeepsEqualOnesInOrder) {
  KeyedLists<std::pair<int, int>> lists;
  for (int i = 0; i < 6; ++i) lists.add(1, {i % 2, i});
  lists.add(2, {5, 5});
  lists.settle();
  lists.sort_each([](const auto& a, const auto& b) { return a.first < b.first; });
  EXPECT_THAT(lists.of(1), ElementsAre(std::pair(0, 0), std::pair(0, 2), std::pair(0, 4), std::pair(1, 1),
                                       std::pair(1, 3), std::pair(1, 5)));
}

TEST(KeyedLists, AreAMapOfListsWhateverTheKeys) {
  for (unsigned seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t stride = seed % 3 == 0 ? 1 : seed % 3 == 1 ? std::uint64_t{1} << 40 : random();
    const std::uint64_t n_keys = 1 + random() % 300;
    KeyedLists<std::uint64_t> lists;
    std::map<std::uint64_t, std::vector<std::uint64_t>> map;
    for (std::uint64_t value = 0; value < 1000; ++value) {
      const std::uint64_t key = random() % n_keys * stride;
      lists.add(key, value);
      map[key].push_back(value);
    }
    lists.settle();
    for (std::uint64_t i = 0; i < n_keys + 5; ++i) {
      const auto list = lists.of(i * stride);
      ASSERT_EQ(std::vector(list.begin(), list.end()), map[i * stride]) << seed;
    }
  }
}

}  // namespace
}  // namespace jaxprof::match
