#include "netsampler/nic/counter_difference.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "agent/spool/sample_codec.h"

namespace jaxprof::netsampler {
namespace {

using spool::kMissingSample;
using spool::SampleKind;

Column column(SampleKind kind, std::uint8_t bits) {
  Column made;
  made.name = "c";
  made.kind = kind;
  made.bits = bits;
  return made;
}
const Column kWide = column(SampleKind::kCounter, 64);
const Column kNarrow = column(SampleKind::kCounter, 32);
const Column kSaturating = column(SampleKind::kSaturating, 16);
const Column kGauge = column(SampleKind::kGauge, 64);
const Column kUnknown = column(SampleKind::kUnknown, 64);

std::uint32_t compare(const Column& of, std::uint64_t previous, std::uint64_t now) {
  return compare_rows(std::vector{of}, std::vector{previous}, std::vector{now});
}

TEST(CounterDifference, IsWhatWasCounted) {
  EXPECT_EQ(counter_difference(kWide, 10, 17), 7U);
  EXPECT_EQ(counter_difference(kWide, 10, 10), 0U);
  EXPECT_EQ(counter_difference(kUnknown, 3, 5), 2U);
}

TEST(CounterDifference, WrapsAt32BitsWithoutANegativeRate) {
  EXPECT_EQ(counter_difference(kNarrow, 0xffff'fff0, 0x10), 0x20U);
  EXPECT_EQ(counter_difference(kNarrow, 0x8000'0000, 0), 0x8000'0000U);
}

TEST(CounterDifference, TakesAFallFromTheLowerHalfForAReset) {
  EXPECT_FALSE(counter_difference(kNarrow, 0x7fff'ffff, 5));
  EXPECT_FALSE(counter_difference(kWide, UINT64_MAX - 1, 5));
}

// A value that the width in the table does not allow tells that the table is wrong about this driver.
TEST(CounterDifference, DoesNotWrapWhatIsWiderThanItsColumn) {
  EXPECT_EQ(counter_difference(kNarrow, 0x1'0000'0000, 0x1'0000'0005), 5U);
  EXPECT_FALSE(counter_difference(kNarrow, 0x1'0000'0005, 5));
}

TEST(CounterDifference, HasNoneAtTheEndOfASaturatingCounter) {
  EXPECT_EQ(counter_difference(kSaturating, 5, 9), 4U);
  EXPECT_FALSE(counter_difference(kSaturating, 5, 0xffff));
  EXPECT_FALSE(counter_difference(kSaturating, 0xffff, 0xffff));
  EXPECT_FALSE(counter_difference(kSaturating, 0xffff, 0)) << "someone has set it to zero";
  EXPECT_FALSE(counter_difference(kSaturating, 0xfff0, 3)) << "it never wraps";
}

TEST(CounterDifference, HasNoneOfGaugesAndMissingValues) {
  EXPECT_FALSE(counter_difference(kGauge, 5, 9));
  EXPECT_FALSE(counter_difference(kWide, kMissingSample, 9));
  EXPECT_FALSE(counter_difference(kWide, 5, kMissingSample));
}

TEST(CompareRows, FlagsWhatHappened) {
  EXPECT_EQ(compare(kWide, 5, 9), 0U);
  EXPECT_EQ(compare(kWide, 9, 5), spool::kSampleReset);
  EXPECT_EQ(compare(kNarrow, 0xffff'fff0, 5), spool::kSampleWrapped);
  EXPECT_EQ(compare(kNarrow, 9, 5), spool::kSampleReset);
  EXPECT_EQ(compare(kSaturating, 9, 0xffff), spool::kSampleSaturated);
}

TEST(CompareRows, NeverTakesAGaugeForAReset) {
  EXPECT_EQ(compare(kGauge, 9, 5), 0U);
  EXPECT_EQ(compare(kUnknown, 9, 5), 0U);
  EXPECT_EQ(compare(kSaturating, 9, 0), 0U);
}

TEST(CompareRows, KnowsNothingOfMissingValues) {
  EXPECT_EQ(compare(kWide, kMissingSample, 5), 0U);
  EXPECT_EQ(compare(kWide, 9, kMissingSample), 0U);
  EXPECT_EQ(compare(kSaturating, 9, kMissingSample), 0U);
}

TEST(CompareRows, TakesTheFirstColumnsOfAPartialRow) {
  const std::vector<Column> columns = {kWide, kNarrow};
  const std::vector<std::uint64_t> before = {5, 9}, fast = {6}, both = {6, 3};
  EXPECT_EQ(compare_rows(columns, before, fast), 0U);
  EXPECT_EQ(compare_rows(columns, before, both), spool::kSampleReset);
}

TEST(CompareRows, SaysOfTheFirstRowOnlyWhatItIs) {
  const std::vector<Column> columns = {kWide, kSaturating};
  const std::vector<std::uint64_t> now = {6, 0xffff};
  EXPECT_EQ(compare_rows(columns, {}, now), spool::kSampleSaturated);
}

TEST(IsStale, IsARowWithinTheLifespanInWhichNothingMoved) {
  const std::vector<std::uint64_t> before = {1, 2, 3}, same = {1, 2}, other = {1, 3};
  EXPECT_TRUE(is_stale(before, same, 9, 10));
  EXPECT_FALSE(is_stale(before, other, 9, 10));
  EXPECT_FALSE(is_stale(before, same, 10, 10));
  EXPECT_FALSE(is_stale(before, same, 0, 0)) << "nothing is kept";
}

// Counters of any width that count on and are never away for half of it: the differences add up to what was counted.
TEST(CounterDifference, AddsUpToWhatWasCountedOverManyWraps) {
  std::mt19937_64 random(1);
  for (const std::uint8_t bits : {std::uint8_t{24}, std::uint8_t{32}, std::uint8_t{48}, std::uint8_t{64}}) {
    const Column counter = column(SampleKind::kCounter, bits);
    const std::uint64_t mask = bits == 64 ? UINT64_MAX : (std::uint64_t{1} << bits) - 1;
    std::uint64_t truth = bits == 64 ? 0 : random();
    std::uint64_t previous = truth & mask, counted = 0, added = 0;
    for (int i = 0; i < 1000; ++i) {
      // Of 64 bits nothing wraps within a run.
      const std::uint64_t step = random() % (bits == 64 ? std::uint64_t{1} << 50 : mask / 2);
      truth += step;
      counted += step;
      const auto grown = counter_difference(counter, previous, truth & mask);
      ASSERT_TRUE(grown) << int{bits};
      added += *grown;
      previous = truth & mask;
    }
    EXPECT_EQ(added, counted) << int{bits};
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
