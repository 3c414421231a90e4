// The payloads of NCCL 2.28.9's NVTX ranges: the structs whose bytes are sent, and the schemas that describe them to
// a tool (static ids, entry names, types and offsets as NCCL registers them). What is sent when is nvtx_ranges.h.
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

struct Schema {
  std::uint64_t id = 0;
  std::size_t size_bytes = 0;
  std::vector<nvtxPayloadSchemaEntry_t> entries;
};
Schema call_schema(Function function);
Schema comm_init_schema();
Schema comm_split_schema();
Schema comm_destroy_schema();

void register_schema(nvtxDomainHandle_t domain, const Schema& schema);
// The enumeration of reduction operations that the schemas refer to.
void register_reductions(nvtxDomainHandle_t domain);

}  // namespace jaxprof::puppets::nvtx_payload
