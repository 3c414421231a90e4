#include "merge/match/handle_index.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace jaxprof::match {
namespace {

constexpr std::uint64_t handle_of(std::uint64_t thread, std::uint64_t count) {
  return thread << 36 | count;
}

TEST(HandleIndex, FindsWhatAThreadCountedAndNothingElse) {
  HandleIndex index;
  for (std::uint64_t count = 5; count < 100; ++count) index.set(handle_of(3, count), count);
  for (std::uint64_t count = 5; count < 100; ++count) EXPECT_EQ(index.find(handle_of(3, count)), count);
  EXPECT_EQ(index.find(handle_of(3, 4)), HandleIndex::kNone);
  EXPECT_EQ(index.find(handle_of(3, 100)), HandleIndex::kNone);
  EXPECT_EQ(index.find(handle_of(2, 50)), HandleIndex::kNone);
  EXPECT_EQ(index.find(handle_of(4, 50)), HandleIndex::kNone);
  EXPECT_EQ(index.find(0), HandleIndex::kNone);
}

TEST(HandleIndex, FindsWhatComesBehindALoss) {
  HandleIndex index;
  for (std::uint64_t count = 1; count < 1000; count += count % 7 == 0 ? 40 : 1) index.set(handle_of(1, count), count);
  EXPECT_EQ(index.find(handle_of(1, 7)), 7u);
  EXPECT_EQ(index.find(handle_of(1, 8)), HandleIndex::kNone);
  EXPECT_EQ(index.find(handle_of(1, 47)), 47u);
}

TEST(HandleIndex, TheLastPlaceOfAHandleCounts) {
  HandleIndex index;
  for (std::uint64_t count = 1; count < 9; ++count) index.set(handle_of(1, count), count);
  index.set(handle_of(1, 4), 77);
  EXPECT_EQ(index.find(handle_of(1, 4)), 77u);
  EXPECT_EQ(index.find(handle_of(1, 5)), 5u);
}

// Threads that share a number, and files that are damaged.
TEST(HandleIndex, IsAMapWhateverComes) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    const std::uint64_t threads[] = {0, 1, 2, 1023, 1024, 65535, (1 << 28) - 1};
    const auto any_handle = [&] {
      return handle_of(threads[random() % 7], random() % 40 << (random() % 8 == 0 ? 30 : 0));
    };
    HandleIndex index;
    std::unordered_map<std::uint64_t, std::size_t> map;
    for (std::size_t place = 0; place < 150; ++place) {
      const std::uint64_t handle = any_handle();
      index.set(handle, place);
      map[handle] = place;
    }
    for (int i = 0; i < 300; ++i) {
      const std::uint64_t handle = any_handle();
      ASSERT_EQ(index.find(handle), map.contains(handle) ? map[handle] : HandleIndex::kNone) << seed;
    }
  }
}

}  // namespace
}  // namespace jaxprof::match
