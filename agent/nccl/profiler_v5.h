// NCCL's profiler plugin interface, version 5 (NCCL 2.28), in our own words: layout as published in NCCL's plugin
// headers, checked here offset by offset. Nothing that NCCL passes is followed except a descriptor during its call.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::nccl {

// ncclResult_t: 0 is success, and all that we ever return.
inline constexpr int kSuccess = 0;

struct CollDescriptorV5 {
  std::uint64_t sequence;  // of the call on its communicator and function
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
  void* group;
};

struct P2pDescriptorV5 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;
};

struct GroupApiDescriptorV5 {
  bool is_captured;
  int depth;
};

struct CollApiDescriptorV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool is_captured;
};

struct P2pApiDescriptorV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool is_captured;
};

struct KernelLaunchDescriptorV5 {
  void* stream;
};

struct DescriptorV5 {
  std::uint64_t type;  // one bit of NCCL's event mask
  void* parent;
  int rank;
  union {
    CollDescriptorV5 coll;
    P2pDescriptorV5 p2p;
    GroupApiDescriptorV5 group_api;
    CollApiDescriptorV5 coll_api;
    P2pApiDescriptorV5 p2p_api;
    KernelLaunchDescriptorV5 kernel_launch;
    std::uint8_t bytes[88];
  };
};

static_assert(sizeof(DescriptorV5) == 112);
static_assert(offsetof(DescriptorV5, parent) == 8 && offsetof(DescriptorV5, rank) == 16);
static_assert(offsetof(DescriptorV5, coll) == 24);
static_assert(offsetof(CollDescriptorV5, function) == 8 && offsetof(CollDescriptorV5, send_buffer) == 16);
static_assert(offsetof(CollDescriptorV5, receive_buffer) == 24 && offsetof(CollDescriptorV5, count) == 32);
static_assert(offsetof(CollDescriptorV5, root) == 40 && offsetof(CollDescriptorV5, datatype) == 48);
static_assert(offsetof(CollDescriptorV5, channels) == 56 && offsetof(CollDescriptorV5, warps) == 57);
static_assert(offsetof(CollDescriptorV5, algorithm) == 64 && offsetof(CollDescriptorV5, protocol) == 72);
static_assert(offsetof(CollDescriptorV5, group) == 80);
static_assert(offsetof(P2pDescriptorV5, buffer) == 8 && offsetof(P2pDescriptorV5, datatype) == 16);
static_assert(offsetof(P2pDescriptorV5, count) == 24 && offsetof(P2pDescriptorV5, peer) == 32);
static_assert(offsetof(P2pDescriptorV5, channels) == 36 && offsetof(P2pDescriptorV5, group) == 40);
static_assert(offsetof(GroupApiDescriptorV5, depth) == 4);
static_assert(offsetof(CollApiDescriptorV5, count) == 8 && offsetof(CollApiDescriptorV5, datatype) == 16);
static_assert(offsetof(CollApiDescriptorV5, root) == 24 && offsetof(CollApiDescriptorV5, stream) == 32);
static_assert(offsetof(CollApiDescriptorV5, is_captured) == 40);
static_assert(offsetof(P2pApiDescriptorV5, datatype) == 16 && offsetof(P2pApiDescriptorV5, stream) == 24);
static_assert(offsetof(P2pApiDescriptorV5, is_captured) == 32);

// The table that NCCL looks up as `ncclProfiler_v5`.
struct ProfilerV5 {
  const char* name;
  int (*init)(void** context, std::uint64_t communicator_id, int* mask, const char* communicator_name, int node_count,
              int rank_count, int rank, void* log_function);
  int (*start_event)(void* context, void** handle, DescriptorV5* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
static_assert(sizeof(ProfilerV5) == 48);

}  // namespace jaxprof::nccl
