// The columns of a GPU's samples, in the order in which the probe sends them and the spool keeps them. Only the
// numbers are here, for the probe knows nothing else; names and units are in gpu_columns.h. Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::netsampler {

// Part of the probe's record layout: a change needs another kProbeVersion.
enum class GpuColumn : std::uint32_t {
  kSmClock,
  kMemoryClock,
  kPower,         // as nvidia-smi shows it: over the last second on most boards
  kPowerInstant,  // now
  kPowerLimit,    // the one enforced now
  kEnergy,
  kTemperature,
  kMemoryTemperature,
  kUtilization,        // share of the time in which any kernel ran
  kMemoryUtilization,  // share of the time in which memory was read or written
  kClockReasons,       // bits: gpu_columns.h
  kSwPowerCapTime,
  kThermalTime,
  kSwThermalTime,
  kHwThermalTime,
  kHwPowerBrakeTime,
  kEccCorrected,
  kEccUncorrected,
  kNvlinkTx,
  kNvlinkRx,
  kPcieTx,
  kPcieRx,
  kPcieReplays,
  kCount,
};

inline constexpr std::size_t kGpuColumnCount = static_cast<std::size_t>(GpuColumn::kCount);

}  // namespace jaxprof::netsampler
