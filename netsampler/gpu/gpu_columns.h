// What the columns of a GPU's samples are called and what they mean, and the bits of its clock reasons. All boards of
// all nodes have all columns: what a board, a driver or a permission does not give is missing, row by row.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "agent/spool/node_record.h"
#include "netsampler/gpu/gpu_column.h"

namespace jaxprof::netsampler {

struct GpuColumnInfo {
  const char* name;
  std::uint32_t scale;  // of the raw value to the unit
  spool::SampleUnit unit;
  spool::SampleKind kind;
  std::uint8_t bits;  // of the counter; 64 for a gauge
  bool is_error;      // more of it means that something went wrong
};

// By GpuColumn.
std::span<const GpuColumnInfo> gpu_columns();

// Bits of the column clocks_event_reasons: nvmlClocksEventReason* and nvmlClocksThrottleReason* of NVML's API
// reference, group nvmlClocksEventReasons.
enum ClockReason : std::uint64_t {
  kReasonGpuIdle = 0x1,
  kReasonApplicationClocks = 0x2,
  kReasonSwPowerCap = 0x4,
  kReasonHwSlowdown = 0x8,
  kReasonSyncBoost = 0x10,
  kReasonSwThermal = 0x20,
  kReasonHwThermal = 0x40,
  kReasonHwPowerBrake = 0x80,
  kReasonDisplayClock = 0x100,
  kReasonBoardLimit = 0x200,
  kReasonReliability = 0x400,
};

}  // namespace jaxprof::netsampler
