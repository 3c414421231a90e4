// What NCCL's profiler interface says, from version 5 on, of API calls, groups and launches, and from version 6 on of
// collectives that the GPU's copy engines carry out. As in call_members.h: layouts are NCCL's, words are ours, a struct
// holds from the version in its name on, offsets count from the union.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::nccl {

struct GroupApiV5 {
  bool is_captured;  // into a CUDA graph
  int depth;         // 1: there is no explicit group
};
static_assert(offsetof(GroupApiV5, is_captured) == 0 && offsetof(GroupApiV5, depth) == 4);

// The caller's own count and type.
struct CollApiV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool is_captured;
};
static_assert(offsetof(CollApiV5, count) == 8 && offsetof(CollApiV5, datatype) == 16);
static_assert(offsetof(CollApiV5, root) == 24 && offsetof(CollApiV5, stream) == 32);
static_assert(offsetof(CollApiV5, is_captured) == 40);

struct CollApiV7 {
  const char* function;
  std::size_t count;
  const char* datatype;
  int root;
  void* stream;
  bool is_captured;
  std::uint64_t user_tag;
};
static_assert(offsetof(CollApiV7, count) == 8 && offsetof(CollApiV7, datatype) == 16);
static_assert(offsetof(CollApiV7, root) == 24 && offsetof(CollApiV7, stream) == 32);
static_assert(offsetof(CollApiV7, is_captured) == 40 && offsetof(CollApiV7, user_tag) == 48);

struct P2pApiV5 {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool is_captured;
};
static_assert(offsetof(P2pApiV5, count) == 8 && offsetof(P2pApiV5, datatype) == 16);
static_assert(offsetof(P2pApiV5, stream) == 24 && offsetof(P2pApiV5, is_captured) == 32);

struct P2pApiV7 {
  const char* function;
  std::size_t count;
  const char* datatype;
  void* stream;
  bool is_captured;
  std::uint64_t user_tag;
};
static_assert(offsetof(P2pApiV7, count) == 8 && offsetof(P2pApiV7, datatype) == 16);
static_assert(offsetof(P2pApiV7, stream) == 24 && offsetof(P2pApiV7, is_captured) == 32);
static_assert(offsetof(P2pApiV7, user_tag) == 40);

struct KernelLaunchV5 {
  void* stream;
};

// A collective by copy engines. The event brackets what the host does for it, not the copies.
struct CeCollV6 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  const char* synchronization;  // "MC" or "UC"
  bool synchronizes_in_batch;
  std::uint32_t batch_size;
  std::uint32_t batch_count;
  std::uint32_t copy_sequence;  // of the communicator's copy-engine collectives
  void* stream;
};
static_assert(offsetof(CeCollV6, function) == 8 && offsetof(CeCollV6, send_buffer) == 16);
static_assert(offsetof(CeCollV6, receive_buffer) == 24 && offsetof(CeCollV6, count) == 32);
static_assert(offsetof(CeCollV6, root) == 40 && offsetof(CeCollV6, datatype) == 48);
static_assert(offsetof(CeCollV6, synchronization) == 56 && offsetof(CeCollV6, synchronizes_in_batch) == 64);
static_assert(offsetof(CeCollV6, batch_size) == 68 && offsetof(CeCollV6, batch_count) == 72);
static_assert(offsetof(CeCollV6, copy_sequence) == 76 && offsetof(CeCollV6, stream) == 80);

struct CeCollV7 {
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  const char* synchronization;
  bool synchronizes_in_batch;
  std::uint32_t batch_size;
  std::uint32_t batch_count;
  std::uint32_t copy_sequence;
  void* stream;
  std::uint64_t user_tag;
};
static_assert(offsetof(CeCollV7, function) == 8 && offsetof(CeCollV7, send_buffer) == 16);
static_assert(offsetof(CeCollV7, receive_buffer) == 24 && offsetof(CeCollV7, count) == 32);
static_assert(offsetof(CeCollV7, root) == 40 && offsetof(CeCollV7, datatype) == 48);
static_assert(offsetof(CeCollV7, synchronization) == 56 && offsetof(CeCollV7, synchronizes_in_batch) == 64);
static_assert(offsetof(CeCollV7, batch_size) == 68 && offsetof(CeCollV7, batch_count) == 72);
static_assert(offsetof(CeCollV7, copy_sequence) == 76 && offsetof(CeCollV7, stream) == 80);
static_assert(offsetof(CeCollV7, user_tag) == 88);

}  // namespace jaxprof::nccl
