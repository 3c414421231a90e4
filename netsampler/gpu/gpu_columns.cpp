#include "netsampler/gpu/gpu_columns.h"

#include <array>

namespace jaxprof::netsampler {
namespace {

using spool::SampleKind;
using spool::SampleUnit;

constexpr GpuColumnInfo gauge(const char* name, SampleUnit unit) {
  return {name, 1, unit, SampleKind::kGauge, 64, false};
}

constexpr GpuColumnInfo counter(const char* name, SampleUnit unit, std::uint32_t scale = 1) {
  return {name, scale, unit, SampleKind::kCounter, 64, false};
}

constexpr GpuColumnInfo errors(const char* name, std::uint8_t bits = 64) {
  return {name, 1, SampleUnit::kOne, SampleKind::kCounter, bits, true};
}

constexpr std::array<GpuColumnInfo, kGpuColumnCount> kColumns = {{
    gauge("sm_clock", SampleUnit::kMegahertz),
    gauge("memory_clock", SampleUnit::kMegahertz),
    gauge("power", SampleUnit::kMilliwatts),
    gauge("power_instant", SampleUnit::kMilliwatts),
    gauge("power_limit", SampleUnit::kMilliwatts),
    counter("energy", SampleUnit::kMillijoules),
    gauge("temperature", SampleUnit::kCelsius),
    gauge("memory_temperature", SampleUnit::kCelsius),
    gauge("utilization", SampleUnit::kPercent),
    gauge("memory_utilization", SampleUnit::kPercent),
    gauge("clock_reasons", SampleUnit::kBits),
    counter("power_cap_time", SampleUnit::kNanoseconds),
    counter("thermal_time", SampleUnit::kNanoseconds),
    counter("sw_thermal_time", SampleUnit::kNanoseconds),
    counter("hw_thermal_time", SampleUnit::kNanoseconds),
    counter("hw_power_brake_time", SampleUnit::kNanoseconds),
    errors("ecc_corrected"),
    errors("ecc_uncorrected"),
    counter("nvlink_tx", SampleUnit::kBytes, 1024),
    counter("nvlink_rx", SampleUnit::kBytes, 1024),
    counter("pcie_tx", SampleUnit::kBytes),
    counter("pcie_rx", SampleUnit::kBytes),
    errors("pcie_replays", 32),
}};

}  // namespace

std::span<const GpuColumnInfo> gpu_columns() {
  return kColumns;
}

}  // namespace jaxprof::netsampler
