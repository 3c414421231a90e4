// What a process registered about its GPUs and its windows: devices, lanes, launch configurations, graph nodes, the
// readings of CUPTI's clock, by what it recorded, and when its window opened and closed. The records are kept as the
// spool has them (agent/spool/state_record.h says what each field means); who needs more of them looks them up by
// number.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "agent/spool/state_record.h"

namespace jaxprof::rundir {

enum class Taken { kNo, kYes, kDamaged };

struct GpuState {
  std::map<std::uint32_t, spool::GpuDeviceState> devices;     // by CUDA's ordinal
  std::map<std::uint32_t, std::uint32_t> context_devices;     // ordinal, by context
  std::map<std::uint32_t, spool::GpuLaneState> lanes;         // by number
  std::vector<spool::GpuStreamState> streams;                 // in order of registration: an address may be used again
  std::map<std::uint32_t, spool::LaunchConfigState> configs;  // by number
  std::vector<spool::GraphNodeState> graph_nodes;             // in order of registration
  std::vector<spool::SegmentState> segments;                  // openings and closings, in order
  std::vector<spool::GpuClockState> clocks;
  std::optional<spool::GpuCollectorState> collector;    // the last
  std::map<std::uint32_t, std::uint32_t> record_bytes;  // by CUpti_ActivityKind
  std::map<std::uint32_t, spool::StringId> api_names;   // by the number that activities carry

  // Takes a state record of any kind; kNo for kinds that are none of these.
  Taken take(spool::StateKind kind, std::span<const std::uint8_t> record);
  // Null for a lane that was not registered.
  const spool::GpuLaneState* lane(std::uint64_t number) const;
};

}  // namespace jaxprof::rundir
