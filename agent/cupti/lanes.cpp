#include "agent/cupti/lanes.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {

spool::MadeVarint Lanes::look(Recent* recent, std::uint32_t device, std::uint32_t context,
                              std::uint32_t stream) noexcept {
  bool is_new = false;
  const std::uint32_t lane = all_.number_of({device, context, stream}, &is_new);
  const spool::MadeVarint number(lane);
  if (lane == 0) {
    collect::count_drop(Drop::kStateLogFull);
    return number;
  }
  *recent = {place_of(device, context), std::uint64_t{stream} + 1, number};
  if (is_new) {
    spool::GpuLaneState state{};
    state.lane = lane;
    state.device = device;
    state.context = context;
    state.stream = stream;
    collect::append_state(spool::StateKind::kGpuLane, &state, sizeof state);
  }
  return number;
}

}  // namespace jaxprof::cupti
