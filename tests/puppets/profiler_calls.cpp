#include "tests/puppets/profiler_calls.h"

#include <array>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace jaxprof::puppets {
namespace {

using namespace profiler_abi;

// ---- The numbers that NCCL 2.23 gives for names.

template <std::size_t n>
std::uint8_t position(const std::array<std::string_view, n>& names, const char* name, std::uint8_t otherwise) {
  for (std::size_t i = 0; i < n; ++i) {
    if (name != nullptr && names[i] == name) {
      return static_cast<std::uint8_t>(i);
    }
  }
  return otherwise;
}

std::uint8_t function_number(const char* name) {
  static constexpr std::array<std::string_view, 8> kNames{"Broadcast", "Reduce",   "AllGather", "ReduceScatter",
                                                          "AllReduce", "SendRecv", "Send",      "Recv"};
  return position(kNames, name, 8);
}
std::uint8_t type_number(const char* name) {
  static constexpr std::array<std::string_view, 10> kNames{"ncclInt8",    "Unknown",     "ncclInt32",   "ncclUint32",
                                                           "ncclInt64",   "ncclUint64",  "ncclFloat16", "ncclFloat32",
                                                           "ncclFloat64", "ncclBfloat16"};
  return position(kNames, name, 10);
}
std::uint8_t algorithm_number(const char* name) {
  static constexpr std::array<std::string_view, 7> kNames{
      "TREE", "RING", "COLLNET_DIRECT", "COLLNET_CHAIN", "NVLS", "NVLS_TREE", "PAT"};
  return position(kNames, name, 7);
}
std::uint8_t protocol_number(const char* name) {
  static constexpr std::array<std::string_view, 3> kNames{"LL", "LL128", "SIMPLE"};
  return position(kNames, name, 3);
}

// ---- From all that is known of an event to what a version tells. A field is copied where the version has it.

template <typename Coll>
void lay_out_coll(const Event& event, Coll* to) {
  const CollV7& from = event.coll;
  to->sequence = from.sequence;
  to->send_buffer = from.send_buffer;
  to->receive_buffer = from.receive_buffer;
  to->count = from.count;
  to->root = from.root;
  to->n_channels = from.n_channels;
  to->n_warps = from.n_warps;
  if constexpr (std::is_same_v<Coll, CollV1>) {
    to->function = function_number(from.function);
    to->datatype = type_number(from.datatype);
    to->algorithm = algorithm_number(from.algorithm);
    to->protocol = protocol_number(from.protocol);
    to->reduction = static_cast<std::uint32_t>(event.reduction);
    to->is_collnet = to->is_nvls = 0;
  } else {
    to->function = from.function;
    to->datatype = from.datatype;
    to->algorithm = from.algorithm;
    to->protocol = from.protocol;
  }
  if constexpr (requires { to->comm_hash; }) {
    to->comm_name = event.comm->name;
    to->comm_hash = event.comm->id;
  }
  if constexpr (requires { to->traffic_bytes; }) {
    to->traffic_bytes = event.traffic_bytes;
  }
  if constexpr (requires { to->parent_group; }) {
    to->parent_group = from.parent_group;
  }
  if constexpr (requires { to->user_tag; }) {
    to->kernel_variant = from.kernel_variant;
    to->is_symmetric = from.is_symmetric;
    to->user_tag = from.user_tag;
  }
}

template <typename P2p>
void lay_out_p2p(const Event& event, P2p* to) {
  const P2pV7& from = event.p2p;
  to->buffer = from.buffer;
  to->count = from.count;
  to->peer = from.peer;
  if constexpr (std::is_same_v<P2p, P2pV1>) {
    to->function = function_number(from.function);
    to->datatype = type_number(from.datatype);
  } else {
    to->function = from.function;
    to->datatype = from.datatype;
  }
  if constexpr (requires { to->comm_hash; }) {
    to->comm_name = event.comm->name;
    to->comm_hash = event.comm->id;
  }
  if constexpr (requires { to->n_channels; }) {
    to->n_channels = from.n_channels;
  }
  if constexpr (requires { to->parent_group; }) {
    to->parent_group = from.parent_group;
  }
  if constexpr (requires { to->user_tag; }) {
    to->user_tag = from.user_tag;
  }
}

template <typename Api, typename From>
void lay_out_api(const From& from, Api* to) {
  to->function = from.function;
  to->count = from.count;
  to->datatype = from.datatype;
  to->stream = from.stream;
  to->graph_captured = from.graph_captured;
  if constexpr (requires { to->root; }) {
    to->root = from.root;
  }
  if constexpr (requires { to->user_tag; }) {
    to->user_tag = from.user_tag;
  }
}

template <typename CeColl>
void lay_out_ce_coll(const CeCollV7& from, CeColl* to) {
  to->sequence = from.sequence;
  to->function = from.function;
  to->send_buffer = from.send_buffer;
  to->receive_buffer = from.receive_buffer;
  to->count = from.count;
  to->root = from.root;
  to->datatype = from.datatype;
  to->sync_strategy = from.sync_strategy;
  to->intra_batch_sync = from.intra_batch_sync;
  to->batch_size = from.batch_size;
  to->n_batches = from.n_batches;
  to->ce_sequence = from.ce_sequence;
  to->stream = from.stream;
  if constexpr (requires { to->user_tag; }) {
    to->user_tag = from.user_tag;
  }
}

// Events of version 5 and later.
template <typename Descriptor>
void lay_out_newer(const Event& event, Descriptor* to) {
  switch (event.type) {
    case kGroupApi:
      to->group_api = event.group_api;
      break;
    case kCollApi:
      lay_out_api(event.coll_api, &to->coll_api);
      break;
    case kP2pApi:
      lay_out_api(event.p2p_api, &to->p2p_api);
      break;
    case kKernelLaunch:
      to->kernel_launch = event.kernel_launch;
      break;
    default:
      break;
  }
  if constexpr (requires { to->ce_coll; }) {
    if (event.type == kCeColl) lay_out_ce_coll(event.ce_coll, &to->ce_coll);
  }
}

template <typename Descriptor>
void lay_out(const Event& event, Descriptor* to) {
  constexpr int kGarbage = 0xA5;
  std::memset(static_cast<void*>(to), kGarbage, sizeof *to);
  to->type = static_cast<decltype(to->type)>(event.type);
  to->parent = event.parent;
  to->rank = event.rank;
  switch (event.type) {
    case kColl:
      return lay_out_coll(event, &to->coll);
    case kP2p:
      return lay_out_p2p(event, &to->p2p);
    case kProxyOp:
      to->proxy_op = event.proxy_op;
      return;
    case kProxyStep:
      to->proxy_step = event.proxy_step;
      return;
    case kKernelChannel:
      if constexpr (requires { to->kernel_channel.device_timer; }) {
        to->kernel_channel = event.kernel_channel;
      } else if constexpr (requires { to->kernel_channel; }) {
        to->kernel_channel.channel = event.kernel_channel.channel;
      }
      return;
    default:
      break;
  }
  if constexpr (requires { to->group_api; }) {
    lay_out_newer(event, to);
  }
}

}  // namespace

Event event_of(EventType type, void* parent) {
  Event event;
  std::memset(static_cast<void*>(static_cast<DescriptorV7*>(&event)), 0, sizeof(DescriptorV7));
  event.type = type;
  event.parent = parent;
  return event;
}

int ProfilerCalls::init(Communicator& comm, int* mask, Logger logger) const {
  if (version_ <= 3) {
    return table<InitV1>().init(&comm.profiler_context, mask);
  }
  if (version_ == 4) {
    return table<InitV4>().init(&comm.profiler_context, mask, comm.name, comm.id, comm.n_nodes, comm.n_ranks, comm.rank,
                                logger);
  }
  return table<InitV5>().init(&comm.profiler_context, comm.id, mask, comm.name, comm.n_nodes, comm.n_ranks, comm.rank,
                              logger);
}

void ProfilerCalls::start(void* context, void** handle, const Event& event) const {
  const auto call = [&](auto descriptor) {
    lay_out(event, &descriptor);
    table<InitV1>().start_event(context, handle, &descriptor);
  };
  switch (version_) {
    case 1:
      return call(DescriptorV1{});
    case 2:
      return call(DescriptorV2{});
    case 3:
      return call(DescriptorV3{});
    case 4:
      return call(DescriptorV4{});
    case 5:
      return call(DescriptorV5{});
    case 6:
      return call(DescriptorV6{});
    default:
      return call(DescriptorV7{});
  }
}

}  // namespace jaxprof::puppets
