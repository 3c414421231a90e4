// Sets of instants against the same sets as bits, one a nanosecond.
#include "merge/study/intervals.h"

#include <gtest/gtest.h>

#include <bitset>
#include <random>

namespace jaxprof::study {
namespace {

constexpr std::size_t kEnd = 400;
using Bits = std::bitset<kEnd>;

struct Both {
  Intervals intervals;
  Bits bits;
};

Both random_set(std::mt19937& random) {
  Both set;
  const std::size_t n = random() % 20;
  for (std::size_t i = 0; i < n; ++i) {
    const auto begin = static_cast<std::int64_t>(random() % kEnd);
    const auto end = std::min<std::int64_t>(begin + static_cast<std::int64_t>(random() % 40) - 3, kEnd);
    set.intervals.add({begin, end});
    for (std::int64_t t = begin; t < end; ++t) set.bits.set(static_cast<std::size_t>(t));
  }
  set.intervals.settle();
  return set;
}

Bits bits_of(const Intervals& intervals) {
  Bits bits;
  for (const TimeSpan& span : intervals.spans()) {
    for (std::int64_t t = span.begin_ns; t < span.end_ns; ++t) bits.set(static_cast<std::size_t>(t));
  }
  return bits;
}

void expect_settled(const Intervals& intervals) {
  for (std::size_t i = 0; i < intervals.spans().size(); ++i) {
    EXPECT_LT(intervals.spans()[i].begin_ns, intervals.spans()[i].end_ns);
    if (i == 0) continue;
    EXPECT_LT(intervals.spans()[i - 1].end_ns, intervals.spans()[i].begin_ns);
  }
}

TEST(Intervals, AgreeWithBitsOnRandomSets) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    const Both a = random_set(random);
    const Both b = random_set(random);
    EXPECT_EQ(bits_of(a.intervals), a.bits);
    EXPECT_EQ(bits_of(union_of(a.intervals, b.intervals)), a.bits | b.bits);
    EXPECT_EQ(bits_of(intersection(a.intervals, b.intervals)), a.bits & b.bits);
    EXPECT_EQ(bits_of(difference(a.intervals, b.intervals)), a.bits & ~b.bits);
    EXPECT_EQ(a.intervals.length_ns(), static_cast<std::int64_t>(a.bits.count()));
    for (const Intervals& set : {a.intervals, union_of(a.intervals, b.intervals)}) expect_settled(set);
    const auto t = static_cast<std::int64_t>(random() % kEnd);
    EXPECT_EQ(a.intervals.contains(t), a.bits.test(static_cast<std::size_t>(t)));
  }
}

TEST(Intervals, JoinWhatTouchesAndDropWhatIsEmpty) {
  Intervals set;
  set.add({20, 30});
  set.add({10, 20});
  set.add({40, 40});
  set.add({60, 50});
  set.settle();
  ASSERT_EQ(set.spans().size(), 1U);
  EXPECT_EQ(set.spans()[0], (TimeSpan{10, 30}));
}

TEST(Intervals, DoNotOverflowAtTheEndsOfInt64) {
  Intervals set;
  set.add({std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()});
  set.settle();
  EXPECT_EQ(set.length_ns(), std::numeric_limits<std::int64_t>::max());
}

}  // namespace
}  // namespace jaxprof::study
