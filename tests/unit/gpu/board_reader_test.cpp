// The probe's reading of one board, with functions of ours in NVML's place.
#include "netsampler/gpu/board_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

namespace jaxprof::netsampler {
namespace {

using nvml::FieldValue;
using nvml::Return;

// What the functions below answer, and how often they were asked. NVML's functions have no argument for that.
struct Script {
  Return clock = nvml::kSuccess;
  Return power = nvml::kSuccess;
  Return utilization = nvml::kSuccess;
  Return fields = nvml::kSuccess;
  std::map<std::uint32_t, FieldValue> field;  // others are left as the caller filled them
  int celsius = 51;
  int clock_calls = 0;
  int power_calls = 0;
  int field_calls = 0;
  int last_field_count = 0;
  std::uint32_t nvlink_scope = 0;
};
Script script;

Return read_clock(nvml::Device, nvml::ClockType type, unsigned* mhz) {
  ++script.clock_calls;
  *mhz = type == nvml::kClockSm ? 1980 : 2619;
  return script.clock;
}

Return read_power(nvml::Device, unsigned* milliwatts) {
  ++script.power_calls;
  *milliwatts = 350'000;
  return script.power;
}

Return read_temperature(nvml::Device, nvml::TemperatureSensor, unsigned* celsius) {
  *celsius = 50;
  return nvml::kSuccess;
}

Return read_temperature_v(nvml::Device, nvml::Temperature* answer) {
  if (answer->version != 0x100000C || answer->sensor != 0) return nvml::kArgumentVersionMismatch;
  answer->celsius = script.celsius;
  return nvml::kSuccess;
}

Return read_both(nvml::Device, nvml::Utilization* both) {
  *both = {90, 40};
  return script.utilization;
}

Return read_fields(nvml::Device, int count, FieldValue* values) {
  ++script.field_calls;
  script.last_field_count = count;
  for (int i = 0; i < count; ++i) {
    if (values[i].field == nvml::kNvlinkDataTx) script.nvlink_scope = values[i].scope;
    if (const auto known = script.field.find(values[i].field); known != script.field.end()) {
      values[i].value_type = known->second.value_type;
      values[i].result = known->second.result;
      std::memcpy(values[i].value, known->second.value, sizeof values[i].value);
    }
  }
  return script.fields;
}

template <typename Value>
FieldValue field(nvml::ValueType type, Value value, Return result = nvml::kSuccess) {
  FieldValue answer{};
  answer.value_type = type;
  answer.result = result;
  std::memcpy(answer.value, &value, sizeof value);
  return answer;
}

class BoardReading : public testing::Test {
 protected:
  BoardReading() {
    script = {};
    functions_.clock = read_clock;
    functions_.power = read_power;
    functions_.utilization = read_both;
    functions_.field_values = read_fields;
  }
  std::uint64_t read(GpuColumn column) {
    reader_.read(functions_, &row_);
    return row_.values[static_cast<std::size_t>(column)];
  }
  nvml::Functions functions_{};
  BoardReader reader_{5, nullptr};
  ProbeSample row_{};
};

TEST_F(BoardReading, TakesWhatNvmlAnswers) {
  script.field[nvml::kEnergyConsumption] = field<std::uint64_t>(nvml::kUnsignedLongLong, 1ULL << 40U);
  script.field[nvml::kMemoryTemperature] = field<std::uint32_t>(nvml::kUnsignedInt, 61);
  EXPECT_EQ(read(GpuColumn::kSmClock), 1980);
  EXPECT_EQ(row_.gpu, 5);
  EXPECT_EQ(row_.flags, 0);
  EXPECT_GT(row_.stamp, 0);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kMemoryClock)], 2619);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kPower)], 350'000);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kUtilization)], 90);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kMemoryUtilization)], 40);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kEnergy)], 1ULL << 40U);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kMemoryTemperature)], 61);
}

TEST_F(BoardReading, LeavesOutWhatHasNoFunction) {
  EXPECT_EQ(read(GpuColumn::kTemperature), kProbeMissing);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kClockReasons)], kProbeMissing);
}

TEST_F(BoardReading, AsksOnceForWhatIsNotSupported) {
  script.power = nvml::kNotSupported;
  EXPECT_EQ(read(GpuColumn::kPower), kProbeMissing);
  script.power = nvml::kSuccess;
  EXPECT_EQ(read(GpuColumn::kPower), kProbeMissing);
  EXPECT_EQ(script.power_calls, 1);
  EXPECT_FALSE(reader_.is_denied());
}

TEST_F(BoardReading, RemembersThatSomethingWasForbidden) {
  script.power = nvml::kNoPermission;
  EXPECT_EQ(read(GpuColumn::kPower), kProbeMissing);
  EXPECT_TRUE(reader_.is_denied());
}

TEST_F(BoardReading, AsksAgainForWhatFailedForTheMoment) {
  script.power = nvml::kTimeout;
  EXPECT_EQ(read(GpuColumn::kPower), kProbeMissing);
  script.power = nvml::kSuccess;
  EXPECT_EQ(read(GpuColumn::kPower), 350'000);
}

TEST_F(BoardReading, HasNeitherUtilizationWhereNvmlHasNone) {
  script.utilization = nvml::kNotSupported;  // a partitioned board
  EXPECT_EQ(read(GpuColumn::kUtilization), kProbeMissing);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kMemoryUtilization)], kProbeMissing);
}

TEST_F(BoardReading, AsksForTheTemperatureByTheNewerFunctionOnlyWithoutTheOlder) {
  functions_.temperature_v = read_temperature_v;
  EXPECT_EQ(read(GpuColumn::kTemperature), 51);
  functions_.temperature = read_temperature;
  EXPECT_EQ(read(GpuColumn::kTemperature), 50);
}

TEST_F(BoardReading, HasNoTemperatureBelowZero) {
  functions_.temperature_v = read_temperature_v;
  script.celsius = -1;
  EXPECT_EQ(read(GpuColumn::kTemperature), kProbeMissing);
  script.celsius = 2;
  EXPECT_EQ(read(GpuColumn::kTemperature), 2);
}

TEST_F(BoardReading, TouchesALostBoardNoMore) {
  script.clock = nvml::kGpuIsLost;
  reader_.read(functions_, &row_);
  EXPECT_TRUE(reader_.is_lost());
  EXPECT_EQ(row_.flags, kProbeLost);
  EXPECT_EQ(script.clock_calls, 1);  // neither the memory clock nor anything after it
  EXPECT_EQ(script.power_calls, 0);
  EXPECT_EQ(script.field_calls, 0);
}

TEST_F(BoardReading, AsksForTheSumOverAllLinks) {
  read(GpuColumn::kNvlinkTx);
  EXPECT_EQ(script.nvlink_scope, UINT32_MAX);
}

TEST_F(BoardReading, AsksForFieldsOnceThatTheLibraryDoesNotKnow) {
  script.field[nvml::kEnergyConsumption] = field<std::uint64_t>(nvml::kUnsignedLongLong, 5);
  read(GpuColumn::kEnergy);
  EXPECT_GT(script.last_field_count, 1);
  EXPECT_EQ(read(GpuColumn::kEnergy), 5);
  EXPECT_EQ(script.last_field_count, 1);
}

TEST_F(BoardReading, AsksForNoFieldsWhereTheFunctionFails) {
  script.fields = nvml::kNotSupported;
  read(GpuColumn::kEnergy);
  read(GpuColumn::kEnergy);
  EXPECT_EQ(script.field_calls, 1);
}

TEST_F(BoardReading, KeepsPcieBytesOf64BitsOnly) {
  script.field[nvml::kPcieTxBytes] = field<std::uint64_t>(nvml::kUnsignedLongLong, 7);
  script.field[nvml::kPcieRxBytes] = field<std::uint32_t>(nvml::kUnsignedInt, 8);
  EXPECT_EQ(read(GpuColumn::kPcieTx), 7);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kPcieRx)], kProbeMissing);
  EXPECT_TRUE(reader_.has_short_pcie_counters());
}

TEST_F(BoardReading, TakesNoNegativeValueAndNoFraction) {
  script.field[nvml::kEnergyConsumption] = field<std::int64_t>(nvml::kSignedLongLong, -1);
  script.field[nvml::kMemoryTemperature] = field<double>(nvml::kDouble, 61.5);
  EXPECT_EQ(read(GpuColumn::kEnergy), kProbeMissing);
  EXPECT_EQ(row_.values[static_cast<std::size_t>(GpuColumn::kMemoryTemperature)], kProbeMissing);
}

}  // namespace
}  // namespace jaxprof::netsampler
