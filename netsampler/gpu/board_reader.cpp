#include "netsampler/gpu/board_reader.h"

#include <cstring>
#include <ctime>

namespace jaxprof::netsampler {
namespace {

std::uint64_t now_ns() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(now.tv_nsec);
}

struct FieldColumn {
  GpuColumn column;
  nvml::Field field;
  std::uint32_t scope;
};

constexpr FieldColumn kFields[] = {
    {GpuColumn::kPowerInstant, nvml::kPowerInstant, 0},
    {GpuColumn::kEnergy, nvml::kEnergyConsumption, 0},
    {GpuColumn::kMemoryTemperature, nvml::kMemoryTemperature, 0},
    {GpuColumn::kSwPowerCapTime, nvml::kPerfPolicyPower, 0},
    {GpuColumn::kThermalTime, nvml::kPerfPolicyThermal, 0},
    {GpuColumn::kSwThermalTime, nvml::kSwThermalSlowdown, 0},
    {GpuColumn::kHwThermalTime, nvml::kHwThermalSlowdown, 0},
    {GpuColumn::kHwPowerBrakeTime, nvml::kHwPowerBrakeSlowdown, 0},
    {GpuColumn::kNvlinkTx, nvml::kNvlinkDataTx, nvml::kAllLinks},
    {GpuColumn::kNvlinkRx, nvml::kNvlinkDataRx, nvml::kAllLinks},
    {GpuColumn::kPcieTx, nvml::kPcieTxBytes, 0},
    {GpuColumn::kPcieRx, nvml::kPcieRxBytes, 0},
};
constexpr int kFieldCount = sizeof kFields / sizeof kFields[0];

// Will the same question have the same answer for as long as the probe runs?
bool is_final(nvml::Return result) noexcept {
  switch (result) {
    case nvml::kUninitialized:
    case nvml::kInvalidArgument:
    case nvml::kNotSupported:
    case nvml::kNoPermission:
    case nvml::kNotFound:
    case nvml::kFunctionNotFound:
    case nvml::kVgpuEccNotSupported:
    case nvml::kArgumentVersionMismatch:
    case nvml::kDeprecated:
      return true;
    default:
      return false;
  }
}

template <typename Value>
Value value_of(const nvml::FieldValue& field) noexcept {
  Value value;
  std::memcpy(&value, field.value, sizeof value);
  return value;
}

// False for negative values and for types that a counter or gauge of ours does not have.
bool read_value(const nvml::FieldValue& field, std::uint64_t* value) noexcept {
  switch (field.value_type) {
    case nvml::kUnsignedInt:
      *value = value_of<std::uint32_t>(field);
      return true;
    case nvml::kUnsignedLong:  // 64 bits on every system with NVML for Linux
    case nvml::kUnsignedLongLong:
      *value = value_of<std::uint64_t>(field);
      return true;
    case nvml::kUnsignedShort:
      *value = value_of<std::uint16_t>(field);
      return true;
    case nvml::kSignedLongLong:
      *value = value_of<std::uint64_t>(field);
      return value_of<std::int64_t>(field) >= 0;
    case nvml::kSignedInt:
      *value = value_of<std::uint32_t>(field);
      return value_of<std::int32_t>(field) >= 0;
    default:
      return false;
  }
}

}  // namespace

void BoardReader::take(GpuColumn column, nvml::Return result, std::uint64_t value, ProbeSample* row) noexcept {
  if (result == nvml::kSuccess) {
    row->values[static_cast<std::size_t>(column)] = value;
    return;
  }
  if (result == nvml::kGpuIsLost || result == nvml::kResetRequired || result == nvml::kGpuNotFound) is_lost_ = true;
  if (result == nvml::kNoPermission) is_denied_ = true;
  if (is_final(result)) never(column);
}

template <typename Function, typename Ask>
void BoardReader::ask(GpuColumn column, Function function, Ask ask, ProbeSample* row) noexcept {
  if (is_lost_ || !wants(column)) return;
  if (function == nullptr) return never(column);
  std::uint64_t value = 0;
  const nvml::Return result = ask(&value);
  take(column, result, value, row);
}

void BoardReader::read_temperature(const nvml::Functions& nvml, ProbeSample* row) noexcept {
  if (nvml.temperature != nullptr || nvml.temperature_v == nullptr) {
    return ask(
        GpuColumn::kTemperature, nvml.temperature,
        [&](std::uint64_t* value) {
          unsigned celsius = 0;
          const nvml::Return result = nvml.temperature(device_, nvml::kTemperatureGpu, &celsius);
          *value = celsius;
          return result;
        },
        row);
  }
  ask(
      GpuColumn::kTemperature, nvml.temperature_v,
      [&](std::uint64_t* value) {
        nvml::Temperature answer{nvml::kTemperatureVersion, nvml::kTemperatureGpu, 0};
        const nvml::Return result = nvml.temperature_v(device_, &answer);
        if (result == nvml::kSuccess && answer.celsius < 0) return nvml::kUnknown;  // below what a column can hold
        *value = static_cast<std::uint64_t>(answer.celsius);
        return result;
      },
      row);
}

void BoardReader::read_utilization(const nvml::Functions& nvml, ProbeSample* row) noexcept {
  nvml::Utilization both{};
  ask(
      GpuColumn::kUtilization, nvml.utilization,
      [&](std::uint64_t* value) {
        const nvml::Return result = nvml.utilization(device_, &both);
        *value = both.gpu;
        return result;
      },
      row);
  if (row->values[static_cast<std::size_t>(GpuColumn::kUtilization)] == kProbeMissing) return;
  row->values[static_cast<std::size_t>(GpuColumn::kMemoryUtilization)] = both.memory;
}

void BoardReader::take_field(GpuColumn column, const nvml::FieldValue& field, ProbeSample* row) noexcept {
  std::uint64_t value = 0;
  auto result = static_cast<nvml::Return>(field.result);
  if (result == nvml::kSuccess && !read_value(field, &value)) return never(column);
  const bool is_pcie = column == GpuColumn::kPcieTx || column == GpuColumn::kPcieRx;
  if (result == nvml::kSuccess && is_pcie && field.value_type == nvml::kUnsignedInt) {
    has_short_pcie_counters_ = true;
    result = nvml::kNotSupported;
  }
  take(column, result, value, row);
}

void BoardReader::read_fields(const nvml::Functions& nvml, ProbeSample* row) noexcept {
  if (is_lost_ || nvml.field_values == nullptr) return;
  nvml::FieldValue values[kFieldCount] = {};
  GpuColumn columns[kFieldCount];
  int count = 0;
  for (const FieldColumn& wanted : kFields) {
    if (!wants(wanted.column)) continue;
    columns[count] = wanted.column;
    values[count].field = wanted.field;
    values[count].scope = wanted.scope;
    values[count].result = nvml::kNotSupported;  // an older library leaves what it does not know as it is
    ++count;
  }
  if (count == 0) return;
  const nvml::Return result = nvml.field_values(device_, count, values);
  for (int i = 0; i < count; ++i) {
    if (result == nvml::kSuccess) {
      take_field(columns[i], values[i], row);
    } else {
      take(columns[i], result, 0, row);
    }
  }
}

void BoardReader::read(const nvml::Functions& nvml, ProbeSample* row) noexcept {
  *row = {};
  row->gpu = number_;
  for (std::uint64_t& value : row->values) value = kProbeMissing;
  row->stamp = now_ns();

  // Most of NVML writes an unsigned int.
  const auto ask_number = [&](GpuColumn column, auto function, auto... arguments) {
    ask(
        column, function,
        [&](std::uint64_t* value) {
          unsigned number = 0;
          const nvml::Return result = function(device_, arguments..., &number);
          *value = number;
          return result;
        },
        row);
  };
  const auto ask_long = [&](GpuColumn column, auto function, auto... arguments) {
    ask(
        column, function,
        [&](std::uint64_t* value) {
          unsigned long long number = 0;
          const nvml::Return result = function(device_, arguments..., &number);
          *value = number;
          return result;
        },
        row);
  };
  ask_number(GpuColumn::kSmClock, nvml.clock, nvml::kClockSm);
  ask_number(GpuColumn::kMemoryClock, nvml.clock, nvml::kClockMemory);
  ask_long(GpuColumn::kClockReasons, nvml.clock_reasons);
  ask_number(GpuColumn::kPower, nvml.power);
  ask_number(GpuColumn::kPowerLimit, nvml.power_limit);
  read_temperature(nvml, row);
  read_utilization(nvml, row);
  ask_long(GpuColumn::kEccCorrected, nvml.ecc_errors, nvml::kErrorCorrected, nvml::kVolatileEcc);
  ask_long(GpuColumn::kEccUncorrected, nvml.ecc_errors, nvml::kErrorUncorrected, nvml::kVolatileEcc);
  ask_number(GpuColumn::kPcieReplays, nvml.pcie_replays);
  read_fields(nvml, row);

  row->read_ns = now_ns() - row->stamp;
  if (is_lost_) row->flags |= kProbeLost;
}

}  // namespace jaxprof::netsampler
