// What NCCL's profiler interface says of a collective, a send or a receive, in each of its versions. The layout is as
// published in NCCL's plugin headers, from one header to the next as fields came and went; the words are ours. A struct
// carries the version that introduced it and holds until the next one. LP64: x86-64 and aarch64 agree. Offsets count
// from the union of the descriptor, 24 bytes behind its beginning. Pointers are valid during the callback only, and
// only strings are followed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::nccl {

// ---- Collectives.

// NCCL 2.23: names are numbers.
struct CollV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;  // of the call on its communicator and function
  std::uint8_t function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  std::uint8_t datatype;
  std::uint32_t reduction;
  std::size_t traffic_bytes;
  std::uint8_t channels;
  std::uint8_t warps;
  std::uint8_t algorithm;
  std::uint8_t protocol;
  int is_collnet;
  int is_nvls;
};
static_assert(offsetof(CollV1, communicator_name) == 0 && offsetof(CollV1, communicator_hash) == 8);
static_assert(offsetof(CollV1, sequence) == 16 && offsetof(CollV1, function) == 24);
static_assert(offsetof(CollV1, send_buffer) == 32 && offsetof(CollV1, receive_buffer) == 40);
static_assert(offsetof(CollV1, count) == 48 && offsetof(CollV1, root) == 56 && offsetof(CollV1, datatype) == 60);
static_assert(offsetof(CollV1, reduction) == 64 && offsetof(CollV1, traffic_bytes) == 72);
static_assert(offsetof(CollV1, channels) == 80 && offsetof(CollV1, warps) == 81);
static_assert(offsetof(CollV1, algorithm) == 82 && offsetof(CollV1, protocol) == 83);
static_assert(offsetof(CollV1, is_collnet) == 84 && offsetof(CollV1, is_nvls) == 88);

// NCCL 2.24: names are strings.
struct CollV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
  const char* function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  int root;
  const char* datatype;
  std::size_t traffic_bytes;
  std::uint8_t channels;
  std::uint8_t warps;
  const char* algorithm;
  const char* protocol;
};
static_assert(offsetof(CollV2, communicator_hash) == 8 && offsetof(CollV2, sequence) == 16);
static_assert(offsetof(CollV2, function) == 24 && offsetof(CollV2, send_buffer) == 32);
static_assert(offsetof(CollV2, receive_buffer) == 40 && offsetof(CollV2, count) == 48);
static_assert(offsetof(CollV2, root) == 56 && offsetof(CollV2, datatype) == 64);
static_assert(offsetof(CollV2, traffic_bytes) == 72 && offsetof(CollV2, channels) == 80);
static_assert(offsetof(CollV2, warps) == 81 && offsetof(CollV2, algorithm) == 88 && offsetof(CollV2, protocol) == 96);

// NCCL 2.26.
struct CollV3 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint64_t sequence;
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
};
static_assert(offsetof(CollV3, communicator_hash) == 8 && offsetof(CollV3, sequence) == 16);
static_assert(offsetof(CollV3, function) == 24 && offsetof(CollV3, send_buffer) == 32);
static_assert(offsetof(CollV3, receive_buffer) == 40 && offsetof(CollV3, count) == 48);
static_assert(offsetof(CollV3, root) == 56 && offsetof(CollV3, datatype) == 64);
static_assert(offsetof(CollV3, channels) == 72 && offsetof(CollV3, warps) == 73);
static_assert(offsetof(CollV3, algorithm) == 80 && offsetof(CollV3, protocol) == 88);

// NCCL 2.27: the communicator is told to init instead.
struct CollV4 {
  std::uint64_t sequence;
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
};
static_assert(offsetof(CollV4, function) == 8 && offsetof(CollV4, send_buffer) == 16);
static_assert(offsetof(CollV4, receive_buffer) == 24 && offsetof(CollV4, count) == 32);
static_assert(offsetof(CollV4, root) == 40 && offsetof(CollV4, datatype) == 48);
static_assert(offsetof(CollV4, channels) == 56 && offsetof(CollV4, warps) == 57);
static_assert(offsetof(CollV4, algorithm) == 64 && offsetof(CollV4, protocol) == 72);

// NCCL 2.28 and, unchanged, version 6 of 2.29.
struct CollV5 {
  std::uint64_t sequence;
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
static_assert(offsetof(CollV5, function) == 8 && offsetof(CollV5, send_buffer) == 16);
static_assert(offsetof(CollV5, receive_buffer) == 24 && offsetof(CollV5, count) == 32);
static_assert(offsetof(CollV5, root) == 40 && offsetof(CollV5, datatype) == 48);
static_assert(offsetof(CollV5, channels) == 56 && offsetof(CollV5, warps) == 57);
static_assert(offsetof(CollV5, algorithm) == 64 && offsetof(CollV5, protocol) == 72 && offsetof(CollV5, group) == 80);

// NCCL 2.31.
struct CollV7 {
  std::uint64_t sequence;
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
  const char* kernel_variant;
  bool is_symmetric;       // by a symmetric kernel
  std::uint64_t user_tag;  // 0: none
};
static_assert(offsetof(CollV7, function) == 8 && offsetof(CollV7, send_buffer) == 16);
static_assert(offsetof(CollV7, receive_buffer) == 24 && offsetof(CollV7, count) == 32);
static_assert(offsetof(CollV7, root) == 40 && offsetof(CollV7, datatype) == 48);
static_assert(offsetof(CollV7, channels) == 56 && offsetof(CollV7, warps) == 57);
static_assert(offsetof(CollV7, algorithm) == 64 && offsetof(CollV7, protocol) == 72 && offsetof(CollV7, group) == 80);
static_assert(offsetof(CollV7, kernel_variant) == 88 && offsetof(CollV7, is_symmetric) == 96);
static_assert(offsetof(CollV7, user_tag) == 104);

// ---- Sends and receives.

struct P2pV1 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  std::uint8_t function;
  void* buffer;
  std::uint8_t datatype;
  std::size_t count;
  int peer;
};
static_assert(offsetof(P2pV1, communicator_hash) == 8 && offsetof(P2pV1, function) == 16);
static_assert(offsetof(P2pV1, buffer) == 24 && offsetof(P2pV1, datatype) == 32);
static_assert(offsetof(P2pV1, count) == 40 && offsetof(P2pV1, peer) == 48);

// And, unchanged, version 3.
struct P2pV2 {
  const char* communicator_name;
  std::uint64_t communicator_hash;
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
};
static_assert(offsetof(P2pV2, communicator_hash) == 8 && offsetof(P2pV2, function) == 16);
static_assert(offsetof(P2pV2, buffer) == 24 && offsetof(P2pV2, datatype) == 32);
static_assert(offsetof(P2pV2, count) == 40 && offsetof(P2pV2, peer) == 48);

struct P2pV4 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
};
static_assert(offsetof(P2pV4, buffer) == 8 && offsetof(P2pV4, datatype) == 16 && offsetof(P2pV4, count) == 24);
static_assert(offsetof(P2pV4, peer) == 32 && offsetof(P2pV4, channels) == 36);

// And, unchanged, version 6.
struct P2pV5 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;
};
static_assert(offsetof(P2pV5, buffer) == 8 && offsetof(P2pV5, datatype) == 16 && offsetof(P2pV5, count) == 24);
static_assert(offsetof(P2pV5, peer) == 32 && offsetof(P2pV5, channels) == 36 && offsetof(P2pV5, group) == 40);

struct P2pV7 {
  const char* function;
  void* buffer;
  const char* datatype;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* group;
  std::uint64_t user_tag;
};
static_assert(offsetof(P2pV7, buffer) == 8 && offsetof(P2pV7, datatype) == 16 && offsetof(P2pV7, count) == 24);
static_assert(offsetof(P2pV7, peer) == 32 && offsetof(P2pV7, channels) == 36 && offsetof(P2pV7, group) == 40);
static_assert(offsetof(P2pV7, user_tag) == 48);

}  // namespace jaxprof::nccl
