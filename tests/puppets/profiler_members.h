// What NCCL's profiler interface says of each kind of event, version by version, as the puppet declares it for itself:
// layouts and numbers are the binary interface (fixed by NCCL), names and comments are ours. The puppet is the NCCL
// side of a test, so it shares no declaration with the agent: a layout misread on one side has to show as a failing
// test, not cancel out. A struct carries the version that introduced it and holds until the next. LP64; offsets are
// asserted in profiler_abi.h, where the structs lie in their descriptors.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::puppets::profiler_abi {

struct CollV1 {
  const char* comm_name;
  std::uint64_t comm_hash;
  std::uint64_t sequence;  // per communicator and function
  std::uint8_t function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;  // in bytes, with datatype ncclInt8, for AllGather and Broadcast
  int root;
  std::uint8_t datatype;
  std::uint32_t reduction;
  std::size_t traffic_bytes;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  std::uint8_t algorithm;
  std::uint8_t protocol;
  int is_collnet;
  int is_nvls;
};
struct CollV2 {
  const char* comm_name;
  std::uint64_t comm_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic_bytes;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
};
struct CollV3 {
  const char* comm_name;
  std::uint64_t comm_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
};
struct CollV4 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
};
struct CollV5 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
  void* parent_group;
};
struct CollV7 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::uint8_t n_channels;
  std::uint8_t n_warps;
  const char* algorithm;
  const char* protocol;
  void* parent_group;
  const char* kernel_variant;
  bool is_symmetric;
  std::uint64_t user_tag;
};

struct P2pV1 {
  const char* comm_name;
  std::uint64_t comm_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t datatype;
  std::size_t count;
  int peer;
};
struct P2pV2 {
  const char* comm_name;
  std::uint64_t comm_hash;
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
};
struct P2pV4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t n_channels;
};
struct P2pV5 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t n_channels;
  void* parent_group;
};
struct P2pV7 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t n_channels;
  void* parent_group;
  std::uint64_t user_tag;
};

// Network events, the same in all versions.
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

struct KernelChannelV3 {
  std::uint8_t channel;
};
struct KernelChannelV4 {
  std::uint8_t channel;
  std::uint64_t device_timer;  // nanoseconds of the GPU's global timer
};
struct NetPluginV3 {
  std::int64_t id;
  void* contents;
};

struct GroupApiV5 {
  bool graph_captured;
  int group_depth;  // 1 for a single call, 2 for the first call within an explicit group
};
struct CollApiV5 {
  const char* function;
  std::size_t count;  // as the caller passed it
  const char* datatype;
  int root;
  void* stream;
  bool graph_captured;
};
struct CollApiV7 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool graph_captured;
  std::uint64_t user_tag;
};
struct P2pApiV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graph_captured;
};
struct P2pApiV7 {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool graph_captured;
  std::uint64_t user_tag;
};
struct KernelLaunchV5 {
  void* stream;
};

struct CeCollV6 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  const char* sync_strategy;
  bool intra_batch_sync;
  std::uint32_t batch_size;
  std::uint32_t n_batches;
  std::uint32_t ce_sequence;
  void* stream;
};
struct CeCollV7 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  const char* sync_strategy;
  bool intra_batch_sync;
  std::uint32_t batch_size;
  std::uint32_t n_batches;
  std::uint32_t ce_sequence;
  void* stream;
  std::uint64_t user_tag;
};
struct CeSyncV6 {
  bool is_complete;
  int n_ranks;
};
struct CeBatchV6 {
  int n_operations;
  std::size_t total_bytes;
  bool uses_intra_sync;
};
struct KernelPhaseV7 {
  std::uint8_t channel;
  std::uint8_t phase;  // 0 first synchronisation, 1 computing, 2 last synchronisation
  const char* phase_name;
  std::uint64_t device_timer;
};

}  // namespace jaxprof::puppets::profiler_abi
