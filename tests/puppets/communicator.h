// A communicator as the puppet's NCCL knows it: a set of ranks with a 64-bit id that is equal on all of them, the
// counters NCCL keeps for it, and the context the profiler plugin gave for it. `Call` is one API call on it.
// Made and destroyed in comm_lifecycle.h; the counters are only touched by the thread that launches on it.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/puppets/nccl_types.h"

namespace jaxprof::puppets {

class ProxyThread;
class Stream;

struct Communicator {
  MPI_Comm mpi = MPI_COMM_NULL;
  std::uint64_t id = 0;        // NCCL's commHash
  const char* name = nullptr;  // XLA gives none
  int rank = 0;
  int n_ranks = 0;
  int n_nodes = 0;
  int device = 0;                 // what NCCL would call cudaDev: the rank within its node
  std::vector<int> node_of_rank;  // [n_ranks]
  int n_splits = 0;               // children made so far; goes into their ids
  void* profiler_context = nullptr;
  std::unique_ptr<ProxyThread> proxy;                       // only for communicators that span nodes
  std::array<std::uint64_t, kFunctions.size()> sequence{};  // NCCL's seqNumber: advances as collectives are launched
  std::array<std::uint64_t, kFunctions.size()> n_calls{};   // API calls so far, in call order
  std::uint32_t n_copies = 0;                               // collectives by copy engines so far

  Communicator();
  ~Communicator();
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;
};

// What the network does to a transfer beside carrying it: it takes so much longer, for all members.
struct Holdup {
  std::int64_t delay_ns = 0;
  bool is_here = false;  // the slow link is this rank's
};

// One API call. `count` is what the caller passes: per rank for AllGather, ReduceScatter, AlltoAll, Gather, Scatter.
struct Call {
  Function function;
  const void* send_buffer;
  void* receive_buffer;
  std::size_t count;
  const DataType* type;
  const Reduction* reduction;
  int root;  // the peer for Send and Recv; 0 where the function has neither
  Communicator* comm;
  Stream* stream;
  Holdup holdup = {};

  std::size_t bytes() const { return count * type->size_bytes; }
};

}  // namespace jaxprof::puppets
