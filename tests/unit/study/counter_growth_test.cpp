// What may become a total or a rate, and what never does.
#include "merge/study/counter_growth.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

namespace jaxprof::study {
namespace {

using runfile::CounterColumn;
using runfile::CounterKind;
using runfile::CounterTable;
using runfile::CounterUnit;
using runfile::kNoSample;
using testing::ElementsAre;
using testing::IsEmpty;

CounterColumn column(CounterKind kind, std::uint8_t bits = 64, std::vector<std::uint64_t> values = {},
                     std::uint32_t scale = 1) {
  return {"c", scale, CounterUnit::kBytes, kind, bits, false, std::move(values)};
}

// Rows a second apart, each read in no time.
CounterTable table_of(std::size_t n, std::vector<std::uint32_t> flags = {}) {
  CounterTable table;
  for (std::size_t i = 0; i < n; ++i) table.time_ns.push_back(static_cast<std::int64_t>(i) * 1'000'000'000);
  table.read_ns.assign(n, 0);
  table.flags = std::move(flags);
  table.flags.resize(n, 0);
  return table;
}

TEST(CounterGrowth, IsTheDifferenceOfWhatWasRead) {
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter), 5, 12), 7U);
  EXPECT_EQ(counter_growth(column(CounterKind::kUnknown), 5, 5), 0U);
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter), kNoSample, 12), std::nullopt);
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter), 5, kNoSample), std::nullopt);
}

TEST(CounterGrowth, OfAGaugeIsNone) {
  EXPECT_EQ(counter_growth(column(CounterKind::kGauge), 5, 12), std::nullopt);
}

TEST(CounterGrowth, GoesRoundOnlyFromTheUpperHalfOfFewerThan64Bits) {
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter, 32), 0xFFFF'FFF0, 0x10), 0x20U);
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter, 32), 0x7FFF'FFFF, 0x10), std::nullopt) << "a reset";
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter, 64), UINT64_MAX - 1, 1), std::nullopt);
  EXPECT_EQ(counter_growth(column(CounterKind::kUnknown, 32), 0xFFFF'FFF0, 0x10), std::nullopt);
  EXPECT_EQ(counter_growth(column(CounterKind::kCounter, 32), std::uint64_t{1} << 40, 0x10), std::nullopt)
      << "more than the counter can hold";
}

TEST(CounterGrowth, OfASaturatingCounterAtItsEndIsNotKnown) {
  EXPECT_EQ(counter_growth(column(CounterKind::kSaturating, 16), 65'000, 65'534), 534U);
  EXPECT_EQ(counter_growth(column(CounterKind::kSaturating, 16), 65'000, 65'535), std::nullopt);
  EXPECT_EQ(counter_growth(column(CounterKind::kSaturating, 16), 65'535, 3), std::nullopt) << "somebody cleared it";
}

TEST(Grow, AddsUpToLastLessFirst) {
  const Growth growth = grow(table_of(4), column(CounterKind::kCounter, 64, {10, 30, 30, 90}, 4), 0, 4);
  EXPECT_EQ(growth.total, 4 * 80);
  EXPECT_THAT(growth.per_s, ElementsAre(80, 0, 240));
  EXPECT_DOUBLE_EQ(*growth.mean_per_s(), 320.0 / 3);
  EXPECT_EQ(growth.resets, 0U);
}

TEST(Grow, DividesByTheTimeBetweenTheMiddlesOfReadings) {
  CounterTable table = table_of(2);
  table.time_ns = {1'000, 2'000'000'000};
  table.read_ns = {0, 2'000};  // middle at 2 s + 1 us
  const Growth growth = grow(table, column(CounterKind::kCounter, 64, {0, 4'000'000'000}), 0, 2);
  EXPECT_THAT(growth.per_s, ElementsAre(2'000'000'000));
}

// A slow counter among fast rows.
TEST(Grow, ReachesOverRowsThatLackTheCounter) {
  const Growth growth = grow(table_of(4), column(CounterKind::kCounter, 64, {5, kNoSample, kNoSample, 11}), 0, 4);
  EXPECT_EQ(growth.n_values, 2U);
  EXPECT_THAT(growth.per_s, ElementsAre(2));
}

TEST(Grow, LeavesOutWhatAResetHides) {
  const Growth back = grow(table_of(4), column(CounterKind::kCounter, 64, {100, 200, 50, 70}), 0, 4);
  EXPECT_EQ(back.total, 120);
  EXPECT_EQ(back.resets, 1U);
  // After the reset it had counted beyond what it was before; only the flag tells.
  const Growth beyond =
      grow(table_of(4, {0, 0, runfile::kRowReset, 0}), column(CounterKind::kCounter, 64, {100, 200, 900, 950}), 0, 4);
  EXPECT_EQ(beyond.total, 150);
  EXPECT_EQ(beyond.resets, 1U);
  const Growth slow = grow(table_of(4, {0, runfile::kRowReset, 0, 0}),
                           column(CounterKind::kCounter, 64, {100, kNoSample, 900, 950}), 0, 4);
  EXPECT_EQ(slow.total, 50) << "a fast row told it";
}

// The kernel's old values: else no rate, and then twice the rate.
TEST(Grow, PassesOverStaleRows) {
  const Growth growth =
      grow(table_of(3, {0, runfile::kRowStale, 0}), column(CounterKind::kCounter, 64, {0, 0, 200}), 0, 3);
  EXPECT_THAT(growth.per_s, ElementsAre(100));
}

TEST(Grow, SaysThatACounterIsAtItsEnd) {
  const Growth growth = grow(table_of(3), column(CounterKind::kSaturating, 8, {250, 253, 255}), 0, 3);
  EXPECT_TRUE(growth.is_saturated);
  EXPECT_EQ(growth.total, 3);
  EXPECT_THAT(growth.per_s, ElementsAre(3));
  EXPECT_EQ(growth.resets, 0U);
}

TEST(Grow, HasNothingToSayOfOneRowOrNone) {
  EXPECT_EQ(grow(table_of(1), column(CounterKind::kCounter, 64, {7}), 0, 1).mean_per_s(), std::nullopt);
  EXPECT_THAT(grow(table_of(1), column(CounterKind::kCounter, 64, {7}), 0, 0).per_s, IsEmpty());
}

TEST(Grow, SurvivesTimesThatNoClockShows) {
  CounterTable table = table_of(3);
  table.time_ns = {std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min(), 0};
  const Growth growth = grow(table, column(CounterKind::kCounter, 64, {0, 5, UINT64_MAX - 1}, UINT32_MAX), 0, 3);
  EXPECT_EQ(growth.per_s.size(), 1U) << "time does not go back";
}

}  // namespace
}  // namespace jaxprof::study
