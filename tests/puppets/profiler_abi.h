// The profiler interface that NCCL 2.23 to 2.31 offer, versions 1 to 7, as the puppet declares it for itself: numbers
// of events and states, descriptors with every offset asserted, tables. Nothing here calls anything.
#pragma once

#include <cstddef>
#include <cstdint>

#include "tests/puppets/profiler_members.h"

namespace jaxprof::puppets::profiler_abi {

inline constexpr int kNewestVersion = 7;

// Event types; each is one bit of the mask that a plugin chooses in its init. The comment names the first version.
enum EventType : std::uint64_t {
  kGroup = 1U << 0U,      // one kernel plan
  kColl = 1U << 1U,       // one collective of a plan
  kP2p = 1U << 2U,        // one send or receive of a plan
  kProxyOp = 1U << 3U,    // one network operation of a collective, on the proxy thread
  kProxyStep = 1U << 4U,  // one chunk of it
  kProxyControl = 1U << 5U,
  kKernelChannel = 1U << 6U,  // 3: one channel's part of a kernel
  kNetPlugin = 1U << 7U,      // 3
  kGroupApi = 1U << 8U,       // 5: outermost group, explicit or implicit
  kCollApi = 1U << 9U,        // 5: the collective's API call
  kP2pApi = 1U << 10U,        // 5: the send's or receive's API call
  kKernelLaunch = 1U << 11U,  // 5: brackets the launch of a plan's kernel
  kCeColl = 1U << 12U,        // 6: a collective by copy engines
  kCeSync = 1U << 13U,        // 6
  kCeBatch = 1U << 14U,       // 6
  kKernelPhase = 1U << 15U    // 7
};
// The events that a version has.
constexpr std::uint64_t events_of_version(int version) {
  return version <= 2 ? 0x3F : version <= 4 ? 0xFF : version == 5 ? 0xFFF : version == 6 ? 0x7FFF : 0xFFFF;
}

enum EventState : int {
  kOpSendPosted = 0,
  kOpSendDone = 3,
  kOpReceivePosted = 4,
  kOpReceiveDone = 7,  // up to 3 a ProxyOp has states of its own
  kSendGpuWait = 8,
  kSendWait = 9,
  kRecvWait = 10,
  kRecvFlushWait = 11,
  kRecvGpuWait = 12,
  kProxyOpInProgress = 19,  // 4
  kSendPeerWait = 20,       // 4
  kKernelChannelStop = 22,
  kGroupStartApiStop = 23,
  kGroupEndApiStart = 24,
};

struct DescriptorV1 {
  std::uint8_t type;
  void* parent;
  int rank;  // NCCL fills it for Coll, P2p and proxy events only; 0 elsewhere
  union {
    CollV1 coll;
    P2pV1 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
  };
};
struct DescriptorV2 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV2 coll;
    P2pV2 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
  };
};
struct DescriptorV3 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV3 coll;
    P2pV2 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannelV3 kernel_channel;
    NetPluginV3 net_plugin;
  };
};
struct DescriptorV4 {
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV4 coll;
    P2pV4 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannelV4 kernel_channel;
    NetPluginV3 net_plugin;
  };
};
struct DescriptorV5 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV5 coll;
    P2pV5 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannelV4 kernel_channel;
    NetPluginV3 net_plugin;
    GroupApiV5 group_api;
    CollApiV5 coll_api;
    P2pApiV5 p2p_api;
    KernelLaunchV5 kernel_launch;
  };
};
struct DescriptorV6 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV5 coll;
    P2pV5 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannelV4 kernel_channel;
    NetPluginV3 net_plugin;
    GroupApiV5 group_api;
    CollApiV5 coll_api;
    P2pApiV5 p2p_api;
    KernelLaunchV5 kernel_launch;
    CeCollV6 ce_coll;
    CeSyncV6 ce_sync;
    CeBatchV6 ce_batch;
  };
};
struct DescriptorV7 {
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV7 coll;
    P2pV7 p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
    KernelChannelV4 kernel_channel;
    NetPluginV3 net_plugin;
    GroupApiV5 group_api;
    CollApiV7 coll_api;
    P2pApiV7 p2p_api;
    KernelLaunchV5 kernel_launch;
    CeCollV7 ce_coll;
    CeSyncV6 ce_sync;
    CeBatchV6 ce_batch;
    KernelPhaseV7 kernel_phase;
  };
};

static_assert(sizeof(DescriptorV1) == 120 && sizeof(DescriptorV2) == 128 && sizeof(DescriptorV3) == 120);
static_assert(sizeof(DescriptorV4) == 104 && sizeof(DescriptorV5) == 112 && sizeof(DescriptorV6) == 112);
static_assert(sizeof(DescriptorV7) == 136);
static_assert(offsetof(DescriptorV1, parent) == 8 && offsetof(DescriptorV1, rank) == 16);
static_assert(offsetof(DescriptorV1, coll.comm_name) == 24 && offsetof(DescriptorV1, coll.comm_hash) == 32);
static_assert(offsetof(DescriptorV1, coll.sequence) == 40 && offsetof(DescriptorV1, coll.function) == 48);
static_assert(offsetof(DescriptorV1, coll.send_buffer) == 56 && offsetof(DescriptorV1, coll.receive_buffer) == 64);
static_assert(offsetof(DescriptorV1, coll.count) == 72 && offsetof(DescriptorV1, coll.root) == 80);
static_assert(offsetof(DescriptorV1, coll.datatype) == 84 && offsetof(DescriptorV1, coll.reduction) == 88);
static_assert(offsetof(DescriptorV1, coll.traffic_bytes) == 96 && offsetof(DescriptorV1, coll.n_channels) == 104);
static_assert(offsetof(DescriptorV1, coll.n_warps) == 105 && offsetof(DescriptorV1, coll.algorithm) == 106);
static_assert(offsetof(DescriptorV1, coll.protocol) == 107 && offsetof(DescriptorV1, coll.is_collnet) == 108);
static_assert(offsetof(DescriptorV1, coll.is_nvls) == 112);
static_assert(offsetof(DescriptorV1, p2p.function) == 40 && offsetof(DescriptorV1, p2p.buffer) == 48);
static_assert(offsetof(DescriptorV1, p2p.datatype) == 56 && offsetof(DescriptorV1, p2p.count) == 64);
static_assert(offsetof(DescriptorV1, p2p.peer) == 72);
static_assert(offsetof(DescriptorV1, proxy_op.pid) == 24 && offsetof(DescriptorV1, proxy_op.channel) == 28);
static_assert(offsetof(DescriptorV1, proxy_op.peer) == 32 && offsetof(DescriptorV1, proxy_op.n_steps) == 36);
static_assert(offsetof(DescriptorV1, proxy_op.chunk_size) == 40 && offsetof(DescriptorV1, proxy_op.is_send) == 44);
static_assert(offsetof(DescriptorV1, proxy_step.step) == 24);
static_assert(offsetof(DescriptorV2, coll.function) == 48 && offsetof(DescriptorV2, coll.datatype) == 88);
static_assert(offsetof(DescriptorV2, coll.traffic_bytes) == 96 && offsetof(DescriptorV2, coll.n_channels) == 104);
static_assert(offsetof(DescriptorV2, coll.algorithm) == 112 && offsetof(DescriptorV2, coll.protocol) == 120);
static_assert(offsetof(DescriptorV2, p2p.function) == 40 && offsetof(DescriptorV2, p2p.datatype) == 56);
static_assert(offsetof(DescriptorV2, p2p.count) == 64 && offsetof(DescriptorV2, p2p.peer) == 72);
static_assert(offsetof(DescriptorV3, coll.datatype) == 88 && offsetof(DescriptorV3, coll.n_channels) == 96);
static_assert(offsetof(DescriptorV3, coll.algorithm) == 104 && offsetof(DescriptorV3, coll.protocol) == 112);
static_assert(offsetof(DescriptorV3, kernel_channel.channel) == 24 && offsetof(DescriptorV3, net_plugin.id) == 24);
static_assert(offsetof(DescriptorV3, net_plugin.contents) == 32);
static_assert(offsetof(DescriptorV4, coll.sequence) == 24 && offsetof(DescriptorV4, coll.function) == 32);
static_assert(offsetof(DescriptorV4, coll.count) == 56 && offsetof(DescriptorV4, coll.root) == 64);
static_assert(offsetof(DescriptorV4, coll.datatype) == 72 && offsetof(DescriptorV4, coll.n_channels) == 80);
static_assert(offsetof(DescriptorV4, coll.algorithm) == 88 && offsetof(DescriptorV4, coll.protocol) == 96);
static_assert(offsetof(DescriptorV4, p2p.function) == 24 && offsetof(DescriptorV4, p2p.count) == 48);
static_assert(offsetof(DescriptorV4, p2p.peer) == 56 && offsetof(DescriptorV4, p2p.n_channels) == 60);
static_assert(offsetof(DescriptorV4, kernel_channel.device_timer) == 32);
static_assert(offsetof(DescriptorV5, group_api.graph_captured) == 24);
static_assert(offsetof(DescriptorV5, group_api.group_depth) == 28);
static_assert(offsetof(DescriptorV5, coll_api.function) == 24 && offsetof(DescriptorV5, coll_api.count) == 32);
static_assert(offsetof(DescriptorV5, coll_api.datatype) == 40 && offsetof(DescriptorV5, coll_api.root) == 48);
static_assert(offsetof(DescriptorV5, coll_api.stream) == 56 && offsetof(DescriptorV5, coll_api.graph_captured) == 64);
static_assert(offsetof(DescriptorV5, p2p_api.function) == 24 && offsetof(DescriptorV5, p2p_api.count) == 32);
static_assert(offsetof(DescriptorV5, p2p_api.datatype) == 40 && offsetof(DescriptorV5, p2p_api.stream) == 48);
static_assert(offsetof(DescriptorV5, p2p_api.graph_captured) == 56);
static_assert(offsetof(DescriptorV5, kernel_launch.stream) == 24);
static_assert(offsetof(DescriptorV5, coll.sequence) == 24 && offsetof(DescriptorV5, coll.function) == 32);
static_assert(offsetof(DescriptorV5, coll.send_buffer) == 40 && offsetof(DescriptorV5, coll.receive_buffer) == 48);
static_assert(offsetof(DescriptorV5, coll.count) == 56 && offsetof(DescriptorV5, coll.root) == 64);
static_assert(offsetof(DescriptorV5, coll.datatype) == 72 && offsetof(DescriptorV5, coll.n_channels) == 80);
static_assert(offsetof(DescriptorV5, coll.n_warps) == 81 && offsetof(DescriptorV5, coll.algorithm) == 88);
static_assert(offsetof(DescriptorV5, coll.protocol) == 96 && offsetof(DescriptorV5, coll.parent_group) == 104);
static_assert(offsetof(DescriptorV5, p2p.function) == 24 && offsetof(DescriptorV5, p2p.buffer) == 32);
static_assert(offsetof(DescriptorV5, p2p.datatype) == 40 && offsetof(DescriptorV5, p2p.count) == 48);
static_assert(offsetof(DescriptorV5, p2p.peer) == 56 && offsetof(DescriptorV5, p2p.n_channels) == 60);
static_assert(offsetof(DescriptorV5, p2p.parent_group) == 64);
static_assert(offsetof(DescriptorV6, ce_coll.sequence) == 24 && offsetof(DescriptorV6, ce_coll.function) == 32);
static_assert(offsetof(DescriptorV6, ce_coll.count) == 56 && offsetof(DescriptorV6, ce_coll.root) == 64);
static_assert(offsetof(DescriptorV6, ce_coll.datatype) == 72 && offsetof(DescriptorV6, ce_coll.sync_strategy) == 80);
static_assert(offsetof(DescriptorV6, ce_coll.intra_batch_sync) == 88);
static_assert(offsetof(DescriptorV6, ce_coll.batch_size) == 92 && offsetof(DescriptorV6, ce_coll.n_batches) == 96);
static_assert(offsetof(DescriptorV6, ce_coll.ce_sequence) == 100 && offsetof(DescriptorV6, ce_coll.stream) == 104);
static_assert(offsetof(DescriptorV6, ce_sync.is_complete) == 24 && offsetof(DescriptorV6, ce_sync.n_ranks) == 28);
static_assert(offsetof(DescriptorV6, ce_batch.n_operations) == 24 &&
              offsetof(DescriptorV6, ce_batch.total_bytes) == 32);
static_assert(offsetof(DescriptorV6, ce_batch.uses_intra_sync) == 40);
static_assert(offsetof(DescriptorV7, coll.parent_group) == 104 && offsetof(DescriptorV7, coll.kernel_variant) == 112);
static_assert(offsetof(DescriptorV7, coll.is_symmetric) == 120 && offsetof(DescriptorV7, coll.user_tag) == 128);
static_assert(offsetof(DescriptorV7, p2p.user_tag) == 72 && offsetof(DescriptorV7, coll_api.user_tag) == 72);
static_assert(offsetof(DescriptorV7, p2p_api.user_tag) == 64 && offsetof(DescriptorV7, ce_coll.user_tag) == 112);
static_assert(offsetof(DescriptorV7, kernel_phase.channel) == 24 && offsetof(DescriptorV7, kernel_phase.phase) == 25);
static_assert(offsetof(DescriptorV7, kernel_phase.phase_name) == 32);
static_assert(offsetof(DescriptorV7, kernel_phase.device_timer) == 40);

// What goes with a state; each member begins at 0. Up to version 3 a ProxyOp has two.
union StateArguments {
  std::size_t transferred_bytes;
  int appended;
  void* net_plugin;
  std::uint64_t device_timer;
  struct {
    std::size_t transferred_bytes;
    int n_steps;
  } proxy_op;
};
static_assert(sizeof(StateArguments) == 16 && offsetof(StateArguments, proxy_op.n_steps) == 8);

// level: 0 none … 3 info; flags: NCCL's subsystem bits.
using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

using InitV1 = int (*)(void** context, int* mask);
using InitV4 = int (*)(void** context, int* mask, const char* comm_name, std::uint64_t comm_hash, int n_nodes,
                       int n_ranks, int rank, Logger logger);
using InitV5 = int (*)(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int n_nodes,
                       int n_ranks, int rank, Logger logger);

// What dlsym("ncclProfiler_v<version>") points to. Every function returns 0 for success.
template <typename Init>
struct Plugin {
  const char* name;
  Init init;
  int (*start_event)(void* context, void** handle, void* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
static_assert(sizeof(Plugin<InitV1>) == 48 && sizeof(Plugin<InitV5>) == 48);

}  // namespace jaxprof::puppets::profiler_abi
