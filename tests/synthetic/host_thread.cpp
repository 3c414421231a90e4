#include "tests/synthetic/host_thread.h"

#include <algorithm>

namespace jaxprof::synthetic {
namespace {

using spool::EventKind;
using spool::NcclEvent;
using spool::NcclFunction;

constexpr std::uint64_t kPayloadInt64 = 2;        // NVTX_PAYLOAD_TYPE_INT64
constexpr std::uint32_t kGroupStartApiStop = 23;  // NCCL's states of a GroupApi
constexpr std::uint32_t kGroupEndApiStart = 24;
constexpr std::uint64_t kBytesOfType = 2;  // bfloat16
constexpr std::uint64_t kLargeBytes = 64 << 10;

struct Words {
  const char* api;
  std::uint64_t schema;
};
Words words_of(NcclFunction function) {
  switch (function) {
    case NcclFunction::kAllGather:
      return {"ncclAllGather", kGatherSchema};
    case NcclFunction::kReduceScatter:
      return {"ncclReduceScatter", kReduceScatterSchema};
    case NcclFunction::kBroadcast:
      return {"ncclBroadcast", kBroadcastSchema};
    case NcclFunction::kSend:
      return {"ncclSend", kSendSchema};
    case NcclFunction::kRecv:
      return {"ncclRecv", kRecvSchema};
    default:
      return {"ncclAllReduce", kAllReduceSchema};
  }
}

bool is_point_to_point(const NcclCall& call) {
  return call.function == NcclFunction::kSend || call.function == NcclFunction::kRecv;
}

std::uint64_t codes_of(const NcclCall& call, bool is_tuned) {
  spool::NcclCodes codes;
  codes.function = call.function;
  codes.type = spool::NcclType::kBfloat16;
  if (is_tuned) {
    const bool is_large = call.bytes >= kLargeBytes;
    codes.algorithm = is_large || call.function != NcclFunction::kAllReduce ? spool::NcclAlgorithm::kRing
                                                                            : spool::NcclAlgorithm::kTree;
    codes.protocol = is_large ? spool::NcclProtocol::kSimple : spool::NcclProtocol::kLl;
    codes.channels = is_large ? 16 : 2;
    codes.warps = 16;
  }
  return spool::pack(codes);
}

std::uint64_t widen(std::int32_t value) {
  return static_cast<std::uint64_t>(std::int64_t{value});
}

}  // namespace

HostThread::HostThread(SpoolFile* spool, const NodeTimes& times, std::uint32_t node, NcclBy nccl_by, std::uint64_t seed)
    : spool_(*spool),
      times_(times),
      node_(node),
      has_plugin_(nccl_by != NcclBy::kNvtx),
      has_ranges_(nccl_by != NcclBy::kPlugin),
      random_(seed) {}

void HostThread::go_to(std::int64_t true_ns) {
  now_ns_ = std::max(now_ns_, true_ns + static_cast<std::int64_t>(random_.next() % 256));
}

std::uint64_t HostThread::tick() {
  now_ns_ += 60 + static_cast<std::int64_t>(random_.next() % 256);
  return static_cast<std::uint64_t>(times_.raw_ns(node_, now_ns_));
}

// ---- the program's ranges, in the default domain

void HostThread::push(std::string_view message) {
  const std::uint64_t context = spool::pack(spool::NvtxContext{0, depth_++, 0});
  spool_.event(EventKind::kNvtxPush, spool_.string(message), tick(), {&context, 1});
}

void HostThread::push_step(std::int64_t number) {
  const std::uint64_t fields[] = {spool::pack(spool::NvtxContext{0, depth_++, 0}), kPayloadInt64,
                                  static_cast<std::uint64_t>(number), 0, static_cast<std::uint64_t>(number + 1)};
  spool_.event(EventKind::kNvtxPush, spool_.string("step"), tick(), fields);
}

void HostThread::pop() {
  const std::uint64_t depth = --depth_;
  spool_.event(EventKind::kNvtxPop, 0, tick(), {&depth, 1});
}

// ---- NCCL's ranges

void HostThread::push_nccl(std::string_view api, std::uint64_t ordinal, std::uint64_t schema, const void* payload,
                           std::size_t bytes) {
  if (!has_ranges_) return;
  std::uint8_t record[sizeof(spool::PayloadHeader) + sizeof(CallPayload)] = {};
  static_assert(sizeof(CallPayload) == sizeof(InitPayload) && sizeof(CallPayload) % 8 == 0);
  const spool::PayloadHeader header{schema, static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(bytes)};
  std::memcpy(record, &header, sizeof header);
  if (bytes > 0) std::memcpy(record + sizeof header, payload, bytes);
  const std::uint64_t context =
      spool::pack(spool::NvtxContext{static_cast<std::uint16_t>(kNcclDomain), nccl_depth_++, 0});
  const std::uint64_t fields[] = {context, 0, 0, 0, 0, ordinal};
  const std::size_t field_count = ordinal == 0 ? 1 : std::size(fields);
  const std::size_t record_bytes = bytes == 0 ? 0 : sizeof header + (bytes + 7) / 8 * 8;
  spool_.event(EventKind::kNvtxPush, spool_.string(api), tick(), {fields, field_count}, {record, record_bytes});
}

void HostThread::pop_nccl() {
  if (!has_ranges_) return;
  const std::uint64_t depth = --nccl_depth_;
  spool_.event(EventKind::kNvtxPop, kNcclDomain, tick(), {&depth, 1});
}

void HostThread::make_comm(const Comm& comm, std::uint32_t rank, std::int32_t device) {
  const InitPayload payload{comm.hash, static_cast<std::int32_t>(comm.size),
                            static_cast<std::int32_t>(comm.rank_of(rank)), device, 0};
  push_nccl("ncclCommInitRankConfig", 0, kInitSchema, &payload, sizeof payload - sizeof payload.padding);
  now_ns_ += 40'000;
  pop_nccl();
}

void HostThread::push_call(const NcclCall& call) {
  const Words words = words_of(call.function);
  const bool has_number = call.function != NcclFunction::kAllGather;
  const CallPayload payload{call.comm.hash, call.bytes, is_point_to_point(call) ? call.peer : 0, 0};
  // The agent counts calls of one function, communicator and peer from 1, and there is one peer.
  push_nccl(words.api, call.sequence + 1, words.schema, &payload,
            has_number ? offsetof(CallPayload, padding) : offsetof(CallPayload, number));
}

// ---- the plugin's events

std::uint64_t HostThread::start(NcclEvent event, std::uint32_t comm, std::uint64_t parent,
                                std::initializer_list<std::uint64_t> more) {
  if (!has_plugin_) return 0;
  const std::uint64_t handle = std::uint64_t{SpoolFile::kThread} << 36 | ++handles_;
  std::uint64_t fields[spool::kMaxFields] = {handle, comm, parent};
  constexpr std::size_t kCommon = 3;
  std::copy(more.begin(), more.end(), fields + kCommon);
  spool_.event(EventKind::kNcclStart, static_cast<std::uint32_t>(event), tick(), {fields, kCommon + more.size()});
  return handle;
}

void HostThread::stop(std::uint64_t handle) {
  if (!has_plugin_) return;
  spool_.event(EventKind::kNcclStop, 0, tick(), {&handle, 1});
}

void HostThread::state(std::uint64_t handle, std::uint32_t state) {
  if (!has_plugin_) return;
  spool_.event(EventKind::kNcclState, state, tick(), {&handle, 1});
}

std::uint64_t HostThread::start_api(const NcclCall& call, std::uint64_t group, std::uint64_t stream) {
  const NcclEvent event = is_point_to_point(call) ? NcclEvent::kP2pApi : NcclEvent::kCollApi;
  return start(event, number_of(call.comm.kind), group,
               {codes_of(call, false), call.bytes / kBytesOfType, 0, stream, 0});
}

void HostThread::enqueue(const NcclCall& call, std::uint64_t api) {
  const std::uint32_t comm = number_of(call.comm.kind);
  const std::uint64_t count = call.bytes / kBytesOfType;
  const std::uint64_t handle =
      is_point_to_point(call)
          ? start(NcclEvent::kP2p, comm, api, {codes_of(call, false), count, widen(call.peer), 0, 0})
          : start(NcclEvent::kColl, comm, api, {call.sequence, codes_of(call, true), count, 0, 0});
  stop(handle);
}

// NCCL reports the group when its first call comes, and what a plan holds right behind its launch.
Launch HostThread::call(const std::vector<NcclCall>& calls, std::uint64_t stream) {
  const bool is_group = calls.size() > 1;
  if (is_group) {
    push_nccl("ncclGroupStart", 0, 0, nullptr, 0);
    pop_nccl();
  }
  const std::uint32_t comm = number_of(calls.front().comm.kind);
  std::uint64_t group = 0;
  std::vector<std::uint64_t> apis;
  for (const NcclCall& call : calls) {
    push_call(call);
    if (apis.empty()) {
      group = start(NcclEvent::kGroupApi, comm, 0, {is_group ? 2U : 1U, 0});
      state(group, kGroupStartApiStop);
    }
    apis.push_back(start_api(call, group, stream));
    stop(apis.back());
    if (is_group) pop_nccl();
  }
  if (is_group) push_nccl("ncclGroupEnd", 0, 0, nullptr, 0);
  state(group, kGroupEndApiStart);
  Launch launch;
  launch.handle = start(NcclEvent::kKernelLaunch, comm, group, {stream});
  launch.at_ns = now_ns_;
  now_ns_ += 2'500;
  stop(launch.handle);
  for (std::size_t i = 0; i < calls.size(); ++i) enqueue(calls[i], apis[i]);
  stop(group);
  pop_nccl();
  return launch;
}

}  // namespace jaxprof::synthetic
