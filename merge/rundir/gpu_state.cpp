#include "merge/rundir/gpu_state.h"

#include "agent/spool/spool_reader.h"

namespace jaxprof::rundir {
namespace {

// Reads a record of fixed size and hands it to `keep`.
template <typename State, typename Keep>
Taken with(std::span<const std::uint8_t> record, Keep keep) {
  State state{};
  if (!spool::read_state(record, &state)) return Taken::kDamaged;
  keep(state);
  return Taken::kYes;
}

}  // namespace

Taken GpuState::take(spool::StateKind kind, std::span<const std::uint8_t> record) {
  using spool::StateKind;
  switch (kind) {
    case StateKind::kGpuDevice:
      return with<spool::GpuDeviceState>(record, [this](const auto& state) { devices[state.device] = state; });
    case StateKind::kGpuContext:
      return with<spool::GpuContextState>(record,
                                          [this](const auto& state) { context_devices[state.context] = state.device; });
    case StateKind::kGpuLane:
      return with<spool::GpuLaneState>(record, [this](const auto& state) { lanes[state.lane] = state; });
    case StateKind::kGpuStream:
      return with<spool::GpuStreamState>(record, [this](const auto& state) { streams.push_back(state); });
    case StateKind::kLaunchConfig:
      return with<spool::LaunchConfigState>(record, [this](const auto& state) { configs[state.config] = state; });
    case StateKind::kGraphNode:
      return with<spool::GraphNodeState>(record, [this](const auto& state) { graph_nodes.push_back(state); });
    case StateKind::kSegment:
      return with<spool::SegmentState>(record, [this](const auto& state) { segments.push_back(state); });
    case StateKind::kGpuClock:
      return with<spool::GpuClockState>(record, [this](const auto& state) { clocks.push_back(state); });
    case StateKind::kGpuCollector:
      return with<spool::GpuCollectorState>(record, [this](const auto& state) { collector = state; });
    case StateKind::kGpuRecord:
      return with<spool::GpuRecordState>(record, [this](const auto& state) { record_bytes[state.kind] = state.bytes; });
    case StateKind::kGpuApi:
      return with<spool::GpuApiState>(record, [this](const auto& state) { api_names[state.api] = state.name; });
    default:
      return Taken::kNo;
  }
}

const spool::GpuLaneState* GpuState::lane(std::uint64_t number) const {
  const auto found = number > UINT32_MAX ? lanes.end() : lanes.find(static_cast<std::uint32_t>(number));
  return found == lanes.end() ? nullptr : &found->second;
}

}  // namespace jaxprof::rundir
