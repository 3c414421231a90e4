#include "agent/nccl/plugin_v5.h"

#include <atomic>
#include <bit>

#include "agent/collect/event_sink.h"
#include "agent/nccl/handle.h"
#include "agent/nccl/names.h"
#include "agent/spool/event_record.h"

namespace jaxprof::nccl {
namespace {

using collect::ThreadSink;
using spool::EventKind;
using spool::NcclEvent;
namespace field = spool::nccl_field;

constexpr std::uint32_t kApi = 5;

constexpr std::uint64_t bit_of(NcclEvent event) noexcept {
  return std::uint64_t{1} << static_cast<std::uint32_t>(event);
}

// What we ask NCCL for: calls, groups, launches. KernelCh slows kernels down and ProxyCtrl floods, so neither.
constexpr int kMask =
    static_cast<int>(bit_of(NcclEvent::kColl) | bit_of(NcclEvent::kP2p) | bit_of(NcclEvent::kGroupApi) |
                     bit_of(NcclEvent::kCollApi) | bit_of(NcclEvent::kP2pApi) | bit_of(NcclEvent::kKernelLaunch));
static_assert(kMask == 0xF06);

std::atomic<std::uint32_t> communicator_count{0};

int init(void** context, std::uint64_t communicator_id, int* mask, const char* name, int node_count, int rank_count,
         int rank, void*) noexcept {
  const bool is_recording = collect::attach(kHookNccl, kApi);
  if (context != nullptr) *context = nullptr;
  if (mask != nullptr) *mask = is_recording ? kMask : 0;
  if (!is_recording) return kSuccess;
  const std::uint32_t number = communicator_count.fetch_add(1, std::memory_order_relaxed) + 1;
  ProcessSlot* slot = collect::process_slot();
  slot->nccl_api.store(kApi, std::memory_order_relaxed);
  slot->nccl_communicators.store(number, std::memory_order_relaxed);
  spool::CommunicatorState state{};
  state.communicator = number;
  state.api = kApi;
  state.hash = communicator_id;
  state.rank = rank;
  state.rank_count = rank_count;
  state.node_count = node_count;
  state.name = collect::intern(name);  // the string is the caller's and may be gone after the call
  state.stamp = collect::read_stamp();
  collect::append_state(spool::StateKind::kCommunicator, &state, sizeof state);
  if (context != nullptr) *context = make_handle(collect::process_nonce(), number);
  return kSuccess;
}

int finalize(void* context) noexcept {
  const std::uint64_t number = handle_number(collect::process_nonce(), context);
  if (number == 0 || !collect::is_capturing()) return kSuccess;
  spool::CommunicatorEndState state{};
  state.communicator = static_cast<std::uint32_t>(number);
  state.stamp = collect::read_stamp();
  collect::append_state(spool::StateKind::kCommunicatorEnd, &state, sizeof state);
  return kSuccess;
}

// The number of a handle that NCCL passed back; one that is not ours is counted and becomes "none".
std::uint64_t own_number(const void* handle) noexcept {
  if (handle == nullptr) return 0;
  const std::uint64_t number = handle_number(collect::process_nonce(), handle);
  if (number == 0) collect::count_drop(Drop::kForeignHandle);
  return number;
}

// The fields that follow the three common ones; their number by type.
constexpr std::uint32_t kCommonFields = 3;
std::uint32_t extra_fields(NcclEvent event) noexcept {
  switch (event) {
    case NcclEvent::kColl:
      return 5;
    case NcclEvent::kP2p:
      return 4;
    case NcclEvent::kCollApi:
    case NcclEvent::kP2pApi:
      return 5;
    case NcclEvent::kGroupApi:
      return 2;
    case NcclEvent::kKernelLaunch:
      return 1;
    default:
      return 0;
  }
}

std::uint64_t address(const void* pointer) noexcept {
  return reinterpret_cast<std::uint64_t>(pointer);
}
std::uint64_t widen(int value) noexcept {
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
}

void fill_extra(const DescriptorV5& d, NcclEvent event, std::uint64_t* fields) noexcept {
  switch (event) {
    case NcclEvent::kColl:
      fields[field::kCollSequence] = d.coll.sequence;
      fields[field::kCollCodes] =
          spool::pack({function_of(d.coll.function), type_of(d.coll.datatype), algorithm_of(d.coll.algorithm),
                       protocol_of(d.coll.protocol), d.coll.channels, d.coll.warps});
      fields[field::kCollCount] = d.coll.count;
      fields[field::kCollRoot] = widen(d.coll.root);
      fields[field::kCollGroup] = own_number(d.coll.group);
      break;
    case NcclEvent::kP2p:
      fields[field::kP2pCodes] =
          spool::pack({function_of(d.p2p.function), type_of(d.p2p.datatype), spool::NcclAlgorithm::kUnknown,
                       spool::NcclProtocol::kUnknown, d.p2p.channels, 0});
      fields[field::kP2pCount] = d.p2p.count;
      fields[field::kP2pPeer] = widen(d.p2p.peer);
      fields[field::kP2pGroup] = own_number(d.p2p.group);
      break;
    case NcclEvent::kCollApi:
      fields[field::kApiCodes] = spool::pack({function_of(d.coll_api.function), type_of(d.coll_api.datatype)});
      fields[field::kApiCount] = d.coll_api.count;
      fields[field::kApiRoot] = widen(d.coll_api.root);
      fields[field::kApiStream] = address(d.coll_api.stream);
      fields[field::kApiIsCaptured] = d.coll_api.is_captured ? 1 : 0;
      break;
    case NcclEvent::kP2pApi:
      fields[field::kApiCodes] = spool::pack({function_of(d.p2p_api.function), type_of(d.p2p_api.datatype)});
      fields[field::kApiCount] = d.p2p_api.count;
      fields[field::kApiRoot] = 0;
      fields[field::kApiStream] = address(d.p2p_api.stream);
      fields[field::kApiIsCaptured] = d.p2p_api.is_captured ? 1 : 0;
      break;
    case NcclEvent::kGroupApi:
      fields[field::kGroupApiDepth] = widen(d.group_api.depth);
      fields[field::kGroupApiIsCaptured] = d.group_api.is_captured ? 1 : 0;
      break;
    case NcclEvent::kKernelLaunch:
      fields[field::kLaunchStream] = address(d.kernel_launch.stream);
      break;
    default:
      break;
  }
}

int start_event(void* context, void** handle, DescriptorV5* descriptor) noexcept {
  const std::uint64_t stamp = collect::read_stamp();
  if (handle == nullptr) return kSuccess;
  // A handle that is left unset keeps the value of the event before.
  *handle = nullptr;
  if (descriptor == nullptr || !std::has_single_bit(descriptor->type)) return kSuccess;
  const bool is_capturing = collect::is_capturing();
  ThreadSink* sink = collect::thread_sink();
  if (sink == nullptr) return kSuccess;
  const std::uint64_t number = static_cast<std::uint64_t>(sink->thread) << 36 | ++sink->handle_count;
  *handle = make_handle(collect::process_nonce(), number);
  if (!is_capturing) return kSuccess;
  const auto event = static_cast<NcclEvent>(std::countr_zero(descriptor->type));
  std::uint64_t* fields = collect::begin(sink, EventKind::kNcclStart, static_cast<std::uint32_t>(event), stamp,
                                         kCommonFields + extra_fields(event));
  if (fields == nullptr) return kSuccess;
  fields[field::kHandle] = number;
  fields[field::kCommunicator] = handle_number(collect::process_nonce(), context);
  fields[field::kParent] = own_number(descriptor->parent);
  fill_extra(*descriptor, event, fields);
  collect::commit(sink);
  return kSuccess;
}

void write_short(EventKind kind, std::uint32_t id, const void* handle, std::uint64_t stamp) noexcept {
  if (handle == nullptr || !collect::is_capturing()) return;
  const std::uint64_t number = own_number(handle);
  ThreadSink* sink = number != 0 ? collect::thread_sink() : nullptr;
  if (sink == nullptr) return;
  std::uint64_t* fields = collect::begin(sink, kind, id, stamp, 1);
  if (fields == nullptr) return;
  fields[field::kHandle] = number;
  collect::commit(sink);
}

int stop_event(void* handle) noexcept {
  write_short(EventKind::kNcclStop, 0, handle, collect::read_stamp());
  return kSuccess;
}

int record_event_state(void* handle, int state, void*) noexcept {
  write_short(EventKind::kNcclState, static_cast<std::uint32_t>(state), handle, collect::read_stamp());
  return kSuccess;
}

}  // namespace
}  // namespace jaxprof::nccl

constinit const jaxprof::nccl::ProfilerV5 ncclProfiler_v5 = {
    "jaxprof",
    jaxprof::nccl::init,
    jaxprof::nccl::start_event,
    jaxprof::nccl::stop_event,
    jaxprof::nccl::record_event_state,
    jaxprof::nccl::finalize,
};
