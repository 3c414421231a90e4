#include "merge/match/plugin_events.h"

namespace jaxprof::match {

namespace field = spool::nccl_field;
using spool::NcclEvent;

namespace {

std::int32_t to_int32(std::uint64_t word) {
  return static_cast<std::int32_t>(static_cast<std::int64_t>(word));
}

PluginEvent read_start(std::uint32_t thread, const spool::Event& event) {
  PluginEvent to;
  to.type = static_cast<NcclEvent>(event.id);
  to.thread = thread;
  to.start = event.stamp;
  to.handle = event.fields[field::kHandle];
  to.communicator = static_cast<std::uint32_t>(event.fields[field::kCommunicator]);
  to.parent = event.fields[field::kParent];
  switch (to.type) {
    case NcclEvent::kColl:
      to.sequence = event.fields[field::kCollSequence];
      to.codes = spool::unpack_nccl_codes(event.fields[field::kCollCodes]);
      to.count = event.fields[field::kCollCount];
      to.root = to_int32(event.fields[field::kCollRoot]);
      to.plan = event.fields[field::kCollGroup];
      break;
    case NcclEvent::kP2p:
      to.codes = spool::unpack_nccl_codes(event.fields[field::kP2pCodes]);
      to.count = event.fields[field::kP2pCount];
      to.peer = to_int32(event.fields[field::kP2pPeer]);
      to.plan = event.fields[field::kP2pGroup];
      break;
    case NcclEvent::kCollApi:
    case NcclEvent::kP2pApi:
      to.codes = spool::unpack_nccl_codes(event.fields[field::kApiCodes]);
      to.count = event.fields[field::kApiCount];
      if (to.type == NcclEvent::kCollApi) to.root = to_int32(event.fields[field::kApiRoot]);
      to.stream = event.fields[field::kApiStream];
      to.is_captured = event.fields[field::kApiIsCaptured] != 0;
      break;
    case NcclEvent::kGroupApi:
      to.depth = to_int32(event.fields[field::kGroupApiDepth]);
      to.is_captured = event.fields[field::kGroupApiIsCaptured] != 0;
      break;
    case NcclEvent::kCeColl:
      to.sequence = event.fields[field::kCeSequence];
      to.codes = spool::unpack_nccl_codes(event.fields[field::kCeCodes]);
      to.count = event.fields[field::kCeCount];
      to.root = to_int32(event.fields[field::kCeRoot]);
      to.stream = event.fields[field::kCeStream];
      break;
    case NcclEvent::kKernelLaunch:
      to.stream = event.fields[field::kLaunchStream];
      break;
    default:
      break;
  }
  return to;
}

}  // namespace

void PluginEvents::add(std::uint32_t thread, const spool::Event& event) {
  if (event.kind == spool::EventKind::kNcclStart) {
    events_.push_back(read_start(thread, event));
    PluginEvent& started = events_.back();
    by_handle_.set(started.handle, events_.size() - 1);
    if (early_stops_.empty()) return;
    if (const auto early = early_stops_.find(started.handle); early != early_stops_.end()) {
      started.stop = early->second;
      started.has_stop = true;
      early_stops_.erase(early);
    }
  } else if (event.kind == spool::EventKind::kNcclStop) {
    const std::uint64_t handle = event.fields[field::kHandle];
    const std::size_t place = by_handle_.find(handle);
    if (place == HandleIndex::kNone) {
      early_stops_[handle] = event.stamp;
    } else if (PluginEvent& started = events_[place]; !started.has_stop) {
      started.stop = event.stamp;  // NCCL stops some events twice; the first counts
      started.has_stop = true;
    }
  }
}

const PluginEvent* PluginEvents::find(std::uint64_t handle) const {
  const std::size_t at = place(handle);
  return at == HandleIndex::kNone ? nullptr : &events_[at];
}

}  // namespace jaxprof::match
