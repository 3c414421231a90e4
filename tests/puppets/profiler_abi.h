// The profiler interface that NCCL 2.28 offers, version 5, as the puppet declares it for itself: layouts and numbers
// are the binary interface (fixed by NCCL), names and comments are ours. The puppet is the NCCL side of a test, so it
// shares no declaration with the agent: a layout misread on one side has to show as a failing test, not cancel out.
// Every offset is asserted; LP64 only. Nothing here calls anything.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::puppets::profiler_abi {

inline constexpr const char* kSymbolV5 = "ncclProfiler_v5";

// Event types; each is one bit of the mask that a plugin chooses in its init. ProxyCtrl (5), KernelCh (6) and
// NetPlugin (7) exist, but the puppet has no device and no network plugin and never starts them.
enum EventType : std::uint64_t {
  kGroup = 1U << 0U,      // one kernel plan
  kColl = 1U << 1U,       // one collective of a plan
  kP2p = 1U << 2U,        // one send or receive of a plan
  kProxyOp = 1U << 3U,    // one network operation of a collective, on the proxy thread
  kProxyStep = 1U << 4U,  // one chunk of it
  kKernelChannel = 1U << 6U,
  kNetPlugin = 1U << 7U,
  kGroupApi = 1U << 8U,      // outermost group, explicit or implicit
  kCollApi = 1U << 9U,       // the collective's API call
  kP2pApi = 1U << 10U,       // the send's or receive's API call
  kKernelLaunch = 1U << 11U  // brackets the launch of a plan's kernel
};

enum EventState : int {
  kSendGpuWait = 8,
  kSendWait = 9,
  kRecvWait = 10,
  kRecvFlushWait = 11,
  kRecvGpuWait = 12,
  kProxyOpInProgress = 19,
  kSendPeerWait = 20,
  kGroupStartApiStop = 23,
  kGroupEndApiStart = 24,
};

struct GroupApi {
  bool graph_captured;
  int group_depth;  // 1 for a single call, 2 for the first call within an explicit group
};
struct CollApi {
  const char* function;
  std::size_t count;  // as the caller passed it
  const char* datatype;
  int root;
  void* stream;
  bool graph_captured;
};
struct P2pApi {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graph_captured;
};
struct KernelLaunch {
  void* stream;
};
struct Coll {
  std::uint64_t sequence;  // per communicator and function
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;  // in bytes, with datatype ncclInt8, for AllGather and Broadcast
  int root;
  const char* datatype;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
  void* parent_group;
};
struct P2p {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t n_channels;
  void* parent_group;
};
struct ProxyOp {
  std::int32_t pid;
  std::uint8_t channel;
  int peer;
  int n_steps;
  int chunk_size;
  int is_send;
};
struct ProxyStep {
  int step;
};

struct EventDescriptor {
  std::uint64_t type;
  void* parent;
  int rank;  // NCCL fills it for Coll, P2p and proxy events only; 0 elsewhere
  union {
    GroupApi group_api;
    CollApi coll_api;
    P2pApi p2p_api;
    KernelLaunch kernel_launch;
    Coll coll;
    P2p p2p;
    ProxyOp proxy_op;
    ProxyStep proxy_step;
  };
};
static_assert(sizeof(EventDescriptor) == 112);
static_assert(offsetof(EventDescriptor, parent) == 8 && offsetof(EventDescriptor, rank) == 16);
static_assert(offsetof(EventDescriptor, group_api.graph_captured) == 24);
static_assert(offsetof(EventDescriptor, group_api.group_depth) == 28);
static_assert(offsetof(EventDescriptor, coll_api.function) == 24 && offsetof(EventDescriptor, coll_api.count) == 32);
static_assert(offsetof(EventDescriptor, coll_api.datatype) == 40 && offsetof(EventDescriptor, coll_api.root) == 48);
static_assert(offsetof(EventDescriptor, coll_api.stream) == 56);
static_assert(offsetof(EventDescriptor, coll_api.graph_captured) == 64);
static_assert(offsetof(EventDescriptor, p2p_api.function) == 24 && offsetof(EventDescriptor, p2p_api.count) == 32);
static_assert(offsetof(EventDescriptor, p2p_api.datatype) == 40 && offsetof(EventDescriptor, p2p_api.stream) == 48);
static_assert(offsetof(EventDescriptor, p2p_api.graph_captured) == 56);
static_assert(offsetof(EventDescriptor, kernel_launch.stream) == 24);
static_assert(offsetof(EventDescriptor, coll.sequence) == 24 && offsetof(EventDescriptor, coll.function) == 32);
static_assert(offsetof(EventDescriptor, coll.send_buffer) == 40);
static_assert(offsetof(EventDescriptor, coll.receive_buffer) == 48);
static_assert(offsetof(EventDescriptor, coll.count) == 56 && offsetof(EventDescriptor, coll.root) == 64);
static_assert(offsetof(EventDescriptor, coll.datatype) == 72 && offsetof(EventDescriptor, coll.n_channels) == 80);
static_assert(offsetof(EventDescriptor, coll.n_warps) == 81 && offsetof(EventDescriptor, coll.algorithm) == 88);
static_assert(offsetof(EventDescriptor, coll.protocol) == 96 && offsetof(EventDescriptor, coll.parent_group) == 104);
static_assert(offsetof(EventDescriptor, p2p.function) == 24 && offsetof(EventDescriptor, p2p.buffer) == 32);
static_assert(offsetof(EventDescriptor, p2p.datatype) == 40 && offsetof(EventDescriptor, p2p.count) == 48);
static_assert(offsetof(EventDescriptor, p2p.peer) == 56 && offsetof(EventDescriptor, p2p.n_channels) == 60);
static_assert(offsetof(EventDescriptor, p2p.parent_group) == 64);
static_assert(offsetof(EventDescriptor, proxy_op.pid) == 24 && offsetof(EventDescriptor, proxy_op.channel) == 28);
static_assert(offsetof(EventDescriptor, proxy_op.peer) == 32 && offsetof(EventDescriptor, proxy_op.n_steps) == 36);
static_assert(offsetof(EventDescriptor, proxy_op.chunk_size) == 40);
static_assert(offsetof(EventDescriptor, proxy_op.is_send) == 44);
static_assert(offsetof(EventDescriptor, proxy_step.step) == 24);

union StateArguments {
  std::size_t transferred_bytes;  // ProxyStep
  int appended;                   // ProxyCtrl
  void* net_plugin;
  std::uint64_t device_timer;
};
static_assert(sizeof(StateArguments) == 8);

// level: 0 none … 3 info; flags: NCCL's subsystem bits.
using Logger = void (*)(int level, unsigned long flags, const char* file, int line, const char* format, ...);

// What dlsym(kSymbolV5) points to. Every function returns 0 for success.
struct PluginV5 {
  const char* name;
  int (*init)(void** context, std::uint64_t comm_id, int* mask, const char* comm_name, int n_nodes, int n_ranks,
              int rank, Logger logger);
  int (*start_event)(void* context, void** handle, EventDescriptor* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, StateArguments* arguments);
  int (*finalize)(void* context);
};
static_assert(sizeof(PluginV5) == 48);

}  // namespace jaxprof::puppets::profiler_abi
