// Sets of numbers as stretches, against plain sets.
#include "merge/assembly/step_numbers.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>

namespace jaxprof::assembly {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kHighest = std::numeric_limits<std::int64_t>::max();

TEST(StepNumbers, ReadsAsPeopleWriteIt) {
  EXPECT_EQ(StepNumbers({4}).words(), "step 4");
  EXPECT_EQ(StepNumbers({19, 17, 18, 25, 17}).words(), "steps 17-19,25");
  EXPECT_EQ(StepNumbers({-2, -1, 0, 1}).words(), "steps -2 to 1");
  std::vector<std::int64_t> apart;
  for (std::int64_t i = 0; i < 11; ++i) apart.push_back(2 * i);
  EXPECT_EQ(StepNumbers(apart).words(), "steps 0,2,4,6,8,10,12,14 and 3 more stretches");
}

TEST(StepNumbers, HasItsEndsAtTheEndsOfAllNumbers) {
  const StepNumbers set({kHighest, kLowest, kHighest - 1, kLowest + 1});
  EXPECT_EQ(set.size(), 4u);
  EXPECT_EQ(set.first(), kLowest);
  EXPECT_EQ(set.last(), kHighest);
  EXPECT_EQ(set.without(StepNumbers({kLowest, kHighest})).size(), 2u);
  EXPECT_TRUE(set.without(set).is_empty());
}

std::set<std::int64_t> random_set(std::mt19937* random) {
  std::set<std::int64_t> numbers;
  const std::size_t size = (*random)() % 12;
  for (std::size_t i = 0; i < size; ++i) numbers.insert(static_cast<std::int64_t>((*random)() % 16) - 8);
  return numbers;
}

StepNumbers numbers_of(const std::set<std::int64_t>& set) {
  return StepNumbers({set.begin(), set.end()});
}

TEST(StepNumbers, ReckonsAsSetsDo) {
  std::mt19937 random(4);
  for (int round = 0; round < 5000; ++round) {
    const std::set<std::int64_t> a = random_set(&random);
    const std::set<std::int64_t> b = random_set(&random);
    std::set<std::int64_t> both = a;
    both.insert(b.begin(), b.end());
    ASSERT_EQ(StepNumbers::unite({numbers_of(a), numbers_of(b)}), numbers_of(both));
    ASSERT_EQ(numbers_of(a).size(), a.size());
    std::set<std::int64_t> rest = a;
    for (const std::int64_t number : b) rest.erase(number);
    ASSERT_EQ(numbers_of(a).without(numbers_of(b)), numbers_of(rest));
    std::set<std::int64_t> inside;
    for (const std::int64_t number : a) {
      if (number >= -3 && number <= 2) inside.insert(number);
    }
    ASSERT_EQ(numbers_of(a).between(-3, 2), numbers_of(inside));
  }
}

}  // namespace
}  // namespace jaxprof::assembly
