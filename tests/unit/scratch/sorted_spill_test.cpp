// Whatever the budget, what comes out is what std::stable_sort makes of the same records.
#include "merge/scratch/sorted_spill.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>
#include <vector>

#include "tests/unit/base/temp_folder.h"
#include "tests/unit/spool/small_disk.h"

namespace jaxprof::scratch {
namespace {

// `place` tells records with one key apart.
struct Item {
  std::uint64_t key;
  std::uint32_t place;
  char payload[20];
  bool operator==(const Item& other) const { return key == other.key && place == other.place; }
};

struct ByKey {
  bool operator()(const Item& a, const Item& b) const { return a.key < b.key; }
};
// The same order, with its upper part as a number: what is below is left to the comparison.
struct ByLeadingKey : ByKey {
  static Leading leading(const Item& item) { return {item.key >> 40, (item.key >> 4) & 0xFFFFFFFFF}; }
};

std::vector<Item> random_items(std::uint64_t seed, std::size_t count, std::uint64_t keys) {
  std::mt19937_64 random(seed);
  // Keys over the whole width, few of them: equal ones, and ones that differ in a part only.
  std::vector<std::uint64_t> all(keys);
  for (std::uint64_t& key : all) key = random() >> (random() % 64);
  std::vector<Item> items(count);
  for (std::size_t i = 0; i < count; ++i) items[i] = {all[random() % keys], static_cast<std::uint32_t>(i), "payload"};
  return items;
}

template <typename Before>
std::vector<Item> spilled(const std::vector<Item>& items, const std::string& folder, std::size_t budget_bytes) {
  SortedSpill<Item, Before> spill(folder, budget_bytes);
  for (const Item& item : items) {
    const Status added = spill.add(item);
    EXPECT_TRUE(added) << added.error().message;
  }
  EXPECT_EQ(spill.size(), items.size());
  std::vector<Item> sorted;
  const auto take = [&sorted](const Item& item) {
    EXPECT_STREQ(item.payload, "payload");
    sorted.push_back(item);
    return Status{};
  };
  EXPECT_TRUE(spill.for_each(take));
  const std::vector<Item> once = std::exchange(sorted, {});
  EXPECT_TRUE(spill.for_each(take));
  EXPECT_EQ(once, sorted) << "the second time";
  return once;
}

class SortedSpillWithin : public testing::TestWithParam<std::size_t> {};

TEST_P(SortedSpillWithin, SortsAsAStableSortDoes) {
  const test::TempFolder folder;
  std::uint64_t seed = 1;
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{100}, std::size_t{3000}}) {
    for (const std::uint64_t keys : {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{100'000}}) {
      const std::vector<Item> items = random_items(++seed, count, keys);
      std::vector<Item> expected = items;
      std::stable_sort(expected.begin(), expected.end(), ByKey{});
      EXPECT_EQ(spilled<ByKey>(items, folder.path(), GetParam()), expected) << count << " of " << keys;
      EXPECT_EQ(spilled<ByLeadingKey>(items, folder.path(), GetParam()), expected) << count << " of " << keys;
    }
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// Less than a record; a few records a run, whose runs are merged in passes; a few runs; all in memory.
INSTANTIATE_TEST_SUITE_P(Budgets, SortedSpillWithin,
                         testing::Values(0, sizeof(Item), 5 * sizeof(Item), 1000, 20'000, 64 << 20));

TEST(SortedSpill, MergesMoreRunsThanItMayAtOnce) {
  const test::TempFolder folder;
  const std::vector<Item> items = random_items(99, 200'000, 50'000);
  std::vector<Item> expected = items;
  std::stable_sort(expected.begin(), expected.end(), ByKey{});
  // 4,100 bytes are some 40 records, so 5,000 runs, of which two are merged at once: 13 passes.
  EXPECT_EQ(spilled<ByLeadingKey>(items, folder.path(), 4'100), expected);
}

TEST(SortedSpill, TouchesNoDiskWithinItsBudget) {
  SortedSpill<Item, ByKey> spill("/absent", 1 << 20);
  for (const Item& item : random_items(3, 5000, 5000)) ASSERT_TRUE(spill.add(item));
  std::uint64_t last = 0;
  EXPECT_TRUE(spill.for_each([&last](const Item& item) {
    EXPECT_GE(item.key, last);
    last = item.key;
    return Status{};
  }));
}

TEST(SortedSpill, StopsWhereItsTakerFails) {
  const test::TempFolder folder;
  for (const std::size_t budget_bytes : {std::size_t{2000}, std::size_t{1} << 20}) {
    SortedSpill<Item, ByKey> spill(folder.path(), budget_bytes);
    for (const Item& item : random_items(4, 100, 100)) ASSERT_TRUE(spill.add(item));
    std::size_t taken = 0;
    const Status status = spill.for_each([&taken](const Item&) -> Status {
      if (++taken == 42) return fail(ErrorCode::kUsage, "enough");
      return {};
    });
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().message, "enough");
    EXPECT_EQ(taken, 42u);
  }
}

TEST(SortedSpill, NamesTheFolderThatIsFull) {
  const test::TempFolder folder;
  const test::SmallDisk disk(folder.path());
  if (!disk.has_mounted()) {
    const char* required = std::getenv("JAXPROF_REQUIRE");
    ASSERT_FALSE(required != nullptr && std::strstr(required, "mount") != nullptr) << "JAXPROF_REQUIRE names mount";
    GTEST_SKIP() << "needs the right to mount a tmpfs";
  }
  SortedSpill<Item, ByKey> spill(folder.path(), 8000);
  Status status;
  for (const Item& item : random_items(5, 10'000, 100)) {
    if (status) status = spill.add(item);
  }
  ASSERT_FALSE(status) << "320,000 bytes on a disk of 65,536";
  EXPECT_EQ(status.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(status.error().message, testing::HasSubstr("cannot write to a scratch file in " + folder.path()));
  EXPECT_THAT(status.error().message, testing::HasSubstr("No space left on device"));
}

}  // namespace
}  // namespace jaxprof::scratch
