// NCCL's profiler plugin interface, versions 1 (NCCL 2.23) to 7 (NCCL 2.31): the descriptor that NCCL fills for an
// event, and the table of functions that it looks up as `ncclProfiler_v<version>`. Layouts as published in NCCL's
// plugin headers, checked here; members of events that the agent does not ask for, such as those of network steps, are
// left out, since a descriptor is never read further than its own event's member.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nccl/api_members.h"
#include "agent/nccl/call_members.h"

namespace jaxprof::nccl {

// ncclResult_t: 0 is success, and all that we ever return.
inline constexpr int kSuccess = 0;

// `type` is one bit of NCCL's event mask; eight bits wide up to version 4.
struct DescriptorV1 {
  static constexpr std::uint32_t kApi = 1;
  std::uint8_t type;
  void* parent;
  int rank;  // of Coll, P2p and network events; 0 in others
  union {
    CollV1 coll;
    P2pV1 p2p;
  };
};
struct DescriptorV2 {
  static constexpr std::uint32_t kApi = 2;
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV2 coll;
    P2pV2 p2p;
  };
};
struct DescriptorV3 {
  static constexpr std::uint32_t kApi = 3;
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV3 coll;
    P2pV2 p2p;
  };
};
struct DescriptorV4 {
  static constexpr std::uint32_t kApi = 4;
  std::uint8_t type;
  void* parent;
  int rank;
  union {
    CollV4 coll;
    P2pV4 p2p;
  };
};
struct DescriptorV5 {
  static constexpr std::uint32_t kApi = 5;
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV5 coll;
    P2pV5 p2p;
    GroupApiV5 group_api;
    CollApiV5 coll_api;
    P2pApiV5 p2p_api;
    KernelLaunchV5 kernel_launch;
  };
};
struct DescriptorV6 {
  static constexpr std::uint32_t kApi = 6;
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV5 coll;
    P2pV5 p2p;
    GroupApiV5 group_api;
    CollApiV5 coll_api;
    P2pApiV5 p2p_api;
    KernelLaunchV5 kernel_launch;
    CeCollV6 ce_coll;
  };
};
struct DescriptorV7 {
  static constexpr std::uint32_t kApi = 7;
  std::uint64_t type;
  void* parent;
  int rank;
  union {
    CollV7 coll;
    P2pV7 p2p;
    GroupApiV5 group_api;
    CollApiV7 coll_api;
    P2pApiV7 p2p_api;
    KernelLaunchV5 kernel_launch;
    CeCollV7 ce_coll;
  };
};

template <typename Descriptor>
constexpr bool has_head() noexcept {
  return offsetof(Descriptor, type) == 0 && offsetof(Descriptor, parent) == 8 && offsetof(Descriptor, rank) == 16 &&
         offsetof(Descriptor, coll) == 24 && offsetof(Descriptor, p2p) == 24;
}
static_assert(has_head<DescriptorV1>() && sizeof(DescriptorV1) == 120);
static_assert(has_head<DescriptorV2>() && sizeof(DescriptorV2) == 128);
static_assert(has_head<DescriptorV3>() && sizeof(DescriptorV3) == 120);
static_assert(has_head<DescriptorV4>() && sizeof(DescriptorV4) == 104);
static_assert(has_head<DescriptorV5>() && sizeof(DescriptorV5) == 112);
static_assert(has_head<DescriptorV6>() && sizeof(DescriptorV6) == 112);
static_assert(has_head<DescriptorV7>() && sizeof(DescriptorV7) == 136);

// The functions of a version's init: up to 3 it is not told what the communicator is.
using InitUnnamed = int (*)(void** context, int* mask);
using InitV4 = int (*)(void** context, int* mask, const char* communicator_name, std::uint64_t communicator_hash,
                       int node_count, int rank_count, int rank, void* log_function);
using InitV5 = int (*)(void** context, std::uint64_t communicator_hash, int* mask, const char* communicator_name,
                       int node_count, int rank_count, int rank, void* log_function);

template <typename Init, typename Descriptor>
struct Profiler {
  const char* name;
  Init init;
  int (*start_event)(void* context, void** handle, Descriptor* descriptor);
  int (*stop_event)(void* handle);
  int (*record_event_state)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};
using ProfilerV1 = Profiler<InitUnnamed, DescriptorV1>;
using ProfilerV2 = Profiler<InitUnnamed, DescriptorV2>;
using ProfilerV3 = Profiler<InitUnnamed, DescriptorV3>;
using ProfilerV4 = Profiler<InitV4, DescriptorV4>;
using ProfilerV5 = Profiler<InitV5, DescriptorV5>;
using ProfilerV6 = Profiler<InitV5, DescriptorV6>;
using ProfilerV7 = Profiler<InitV5, DescriptorV7>;
static_assert(sizeof(ProfilerV1) == 48 && offsetof(ProfilerV1, init) == 8 && offsetof(ProfilerV1, start_event) == 16);
static_assert(offsetof(ProfilerV1, stop_event) == 24 && offsetof(ProfilerV1, record_event_state) == 32);
static_assert(offsetof(ProfilerV1, finalize) == 40 && sizeof(ProfilerV4) == 48 && sizeof(ProfilerV7) == 48);

}  // namespace jaxprof::nccl
