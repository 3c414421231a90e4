// The payloads of NCCL's NVTX ranges: the structs whose bytes are sent, and the schemas that describe them to a tool
// (static ids, entry names, types and offsets as NCCL registers them). Two layouts: that of 2.28.9, which 2.25 and
// later share but for numbers, and that of 2.16 to 2.24, which does not say which communicator. What is sent when is
// nvtx_ranges.h.
#pragma once

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/puppets/nccl_types.h"

namespace jaxprof::puppets::nvtx_payload {

struct Collective {  // AllGather, AlltoAll
  std::uint64_t comm;
  std::size_t bytes;
};
struct Rooted {  // Broadcast, Gather, Scatter; Send and Recv with the peer
  std::uint64_t comm;
  std::size_t bytes;
  int root;
};
struct Reduction {  // AllReduce, ReduceScatter
  std::uint64_t comm;
  std::size_t bytes;
  int operation;
};
struct Reduce {
  std::uint64_t comm;
  std::size_t bytes;
  int root;
  int operation;
};
struct Comm {  // making and destroying
  std::uint64_t comm;
  int n_ranks;
  int rank;
  int device;
};
struct Split {
  std::uint64_t comm;
  std::uint64_t parent;
  int n_ranks;
  int rank;
  int device;
  int color;
  int key;
};

// Up to 2.24.
namespace nameless {
struct Collective {
  std::size_t bytes;
};
struct Rooted {
  std::size_t bytes;
  int root;
};
struct Reduction {
  std::size_t bytes;
  int operation;
};
struct Reduce {
  std::size_t bytes;
  int root;
  int operation;
};
struct Comm {
  int rank;
  int n_ranks;
  int device;
};
struct Split {
  int rank;
  int n_ranks;
  int device;
  int color;
  int key;
};
}  // namespace nameless

struct Schema {
  std::uint64_t id = 0;
  std::size_t size_bytes = 0;
  std::vector<nvtxPayloadSchemaEntry_t> entries;
};
// `has_comms`: of 2.25 and later.
Schema call_schema(Function function, bool has_comms = true);
Schema comm_init_schema(bool has_comms = true);
Schema comm_split_schema(bool has_comms = true);
Schema comm_destroy_schema(bool has_comms = true);

void register_schema(nvtxDomainHandle_t domain, const Schema& schema);
// The enumeration of reduction operations that the schemas refer to.
void register_reductions(nvtxDomainHandle_t domain, bool has_comms = true);

}  // namespace jaxprof::puppets::nvtx_payload
