#include "netsampler/gpu/row_flags.h"

#include <gtest/gtest.h>

#include "agent/spool/sample_codec.h"

namespace jaxprof::netsampler {
namespace {

GpuRow row_with(GpuColumn column, std::uint64_t value) {
  GpuRow row;
  row.values.fill(spool::kMissingSample);
  row.values[static_cast<std::size_t>(column)] = value;
  return row;
}

std::uint32_t flags_of(GpuColumn column, std::uint64_t before, std::uint64_t after) {
  return compare_gpu_rows(row_with(column, before), row_with(column, after));
}

TEST(CompareGpuRows, SaysNothingOfCountersThatGrowOrRest) {
  EXPECT_EQ(flags_of(GpuColumn::kEnergy, 5, 6), 0);
  EXPECT_EQ(flags_of(GpuColumn::kEnergy, 5, 5), 0);
}

TEST(CompareGpuRows, FlagsACounterThatWentBack) {
  EXPECT_EQ(flags_of(GpuColumn::kEnergy, 6, 5), spool::kSampleReset);
}

TEST(CompareGpuRows, SaysNothingOfGauges) {
  EXPECT_EQ(flags_of(GpuColumn::kSmClock, 1980, 345), 0);
  EXPECT_EQ(flags_of(GpuColumn::kClockReasons, 4, 0), 0);
}

TEST(CompareGpuRows, SaysNothingOfMissingValues) {
  EXPECT_EQ(flags_of(GpuColumn::kEnergy, spool::kMissingSample, 5), 0);
  EXPECT_EQ(flags_of(GpuColumn::kEnergy, 5, spool::kMissingSample), 0);
}

TEST(CompareGpuRows, TellsAShortCounterThatWentRoundFromOneThatWasReset) {
  EXPECT_EQ(flags_of(GpuColumn::kPcieReplays, 0xffff'fff0U, 3), spool::kSampleWrapped);
  EXPECT_EQ(flags_of(GpuColumn::kPcieReplays, 100, 3), spool::kSampleReset);
  EXPECT_EQ(flags_of(GpuColumn::kPcieReplays, 0x9000'0000U, 0x7000'0000U), spool::kSampleReset);
}

}  // namespace
}  // namespace jaxprof::netsampler
