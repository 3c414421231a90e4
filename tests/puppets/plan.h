// What NCCL makes of API calls: tasks (one a collective, one a send or receive) gathered while a group is open, and a
// plan per communicator when the group ends, which is one kernel launch. The order of tasks within a plan is NCCL's,
// not the caller's, and the sequence numbers follow it. Handles are the profiler plugin's, opaque.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tests/puppets/call_settings.h"
#include "tests/puppets/communicator.h"

namespace jaxprof::puppets {

// The algorithm, protocol and channels NCCL might choose for a collective; strings as in profiler events.
struct Tuning {
  const char* algorithm;
  const char* protocol;
  std::uint8_t n_channels;
};
Tuning tune(Function function, std::size_t bytes);

struct Task {
  Function function;
  const void* send_buffer;  // the buffer, for sends and receives
  void* receive_buffer;
  std::size_t count;     // AllGather and Broadcast: bytes
  const char* datatype;  // AllGather and Broadcast: ncclInt8
  std::size_t bytes;
  int root;  // peer for sends and receives
  Tuning tuning;
  std::size_t n_record;  // which API call of the group it belongs to
  const DataType* type;
  const Reduction* reduction;
  Carrier carrier = Carrier::kKernel;
  std::uint64_t sequence = 0;  // NCCL's number; collectives only
  std::uint64_t mask = 0;      // as it was at the API call
  void* group_api = nullptr;
  void* api = nullptr;    // CollApi or P2pApi handle
  void* event = nullptr;  // Coll or P2p handle
};

struct Plan {
  Communicator* comm;
  Stream* stream;
  Carrier carrier = Carrier::kKernel;  // of all its tasks
  bool is_captured = false;            // into a CUDA graph
  std::vector<Task> collectives;
  std::vector<Task> p2ps;
  void* kernel_launch = nullptr;
  void* group = nullptr;

  // The first task with a non-zero mask speaks for the plan; nullptr if none has.
  const Task* first_watched_task() const;
  // NCCL's order: collectives by traffic, largest first; sends and receives by distance between the ranks.
  void arrange();
};

// Tasks of one API call, in the order in which NCCL appends them: one, or the sends and receives of a decomposed one.
// `wanted` is taken where the function can be carried out so.
std::vector<Task> make_tasks(const Call& call, std::size_t n_record, Carrier wanted = Carrier::kKernel);

// The kernel that NCCL would launch for the plan, as its symbol: that of the first collective, which carries out others
// too, or of sends and receives.
std::string kernel_name(const Plan& plan);
// Its grid: one block a channel.
unsigned kernel_channels(const Plan& plan);

}  // namespace jaxprof::puppets
