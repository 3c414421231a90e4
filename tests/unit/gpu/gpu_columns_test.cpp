#include "netsampler/gpu/gpu_columns.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace jaxprof::netsampler {
namespace {

const GpuColumnInfo& info(GpuColumn column) {
  return gpu_columns()[static_cast<std::size_t>(column)];
}

TEST(GpuColumns, HaveNamesOfTheirOwn) {
  std::set<std::string> names;
  for (const GpuColumnInfo& column : gpu_columns()) names.insert(column.name);
  EXPECT_EQ(names.size(), kGpuColumnCount);
}

// The table is by position: these tie each position to its meaning.
TEST(GpuColumns, AreInTheOrderOfTheirNumbers) {
  EXPECT_STREQ(info(GpuColumn::kSmClock).name, "sm_clock");
  EXPECT_STREQ(info(GpuColumn::kMemoryClock).name, "memory_clock");
  EXPECT_STREQ(info(GpuColumn::kPower).name, "power");
  EXPECT_STREQ(info(GpuColumn::kPowerInstant).name, "power_instant");
  EXPECT_STREQ(info(GpuColumn::kPowerLimit).name, "power_limit");
  EXPECT_STREQ(info(GpuColumn::kEnergy).name, "energy");
  EXPECT_STREQ(info(GpuColumn::kTemperature).name, "temperature");
  EXPECT_STREQ(info(GpuColumn::kMemoryTemperature).name, "memory_temperature");
  EXPECT_STREQ(info(GpuColumn::kUtilization).name, "utilization");
  EXPECT_STREQ(info(GpuColumn::kMemoryUtilization).name, "memory_utilization");
  EXPECT_STREQ(info(GpuColumn::kClockReasons).name, "clock_reasons");
  EXPECT_STREQ(info(GpuColumn::kSwPowerCapTime).name, "power_cap_time");
  EXPECT_STREQ(info(GpuColumn::kThermalTime).name, "thermal_time");
  EXPECT_STREQ(info(GpuColumn::kSwThermalTime).name, "sw_thermal_time");
  EXPECT_STREQ(info(GpuColumn::kHwThermalTime).name, "hw_thermal_time");
  EXPECT_STREQ(info(GpuColumn::kHwPowerBrakeTime).name, "hw_power_brake_time");
  EXPECT_STREQ(info(GpuColumn::kEccCorrected).name, "ecc_corrected");
  EXPECT_STREQ(info(GpuColumn::kEccUncorrected).name, "ecc_uncorrected");
  EXPECT_STREQ(info(GpuColumn::kNvlinkTx).name, "nvlink_tx");
  EXPECT_STREQ(info(GpuColumn::kNvlinkRx).name, "nvlink_rx");
  EXPECT_STREQ(info(GpuColumn::kPcieTx).name, "pcie_tx");
  EXPECT_STREQ(info(GpuColumn::kPcieRx).name, "pcie_rx");
  EXPECT_STREQ(info(GpuColumn::kPcieReplays).name, "pcie_replays");
}

TEST(GpuColumns, CountNvlinkInKibibytes) {
  EXPECT_EQ(info(GpuColumn::kNvlinkTx).scale, 1024);
  EXPECT_EQ(info(GpuColumn::kNvlinkTx).unit, spool::SampleUnit::kBytes);
  EXPECT_EQ(info(GpuColumn::kPcieTx).scale, 1);
}

}  // namespace
}  // namespace jaxprof::netsampler
