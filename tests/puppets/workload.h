// The job: iterations over communicators, operations and sizes, each iteration a "step". One object a user thread;
// what it calls depends only on the options, so that a test can compute how many calls of what size there must be.
#pragma once

#include <cstddef>
#include <set>
#include <vector>

#include "tests/puppets/comm_lifecycle.h"
#include "tests/puppets/hazards.h"
#include "tests/puppets/options.h"
#include "tests/puppets/user_thread.h"

namespace jaxprof::puppets {

class Workload {
 public:
  // `comms`: the thread's own, same order on all ranks. `world_rank` decides about lateness and crash.
  Workload(const Options& options, std::vector<Communicator*> comms, int world_rank, UserThread& thread,
           const TruthLog& log, Hazards& hazards);

  // Runs all iterations and waits for the transfers.
  void run();

 private:
  void run_iteration();
  void run_graph(Operation operation, std::size_t size_bytes, Communicator& comm);
  void run_operation(Operation operation, std::size_t size_bytes, Communicator& comm);
  Call make_call(Function function, std::size_t size_bytes, Communicator& comm, int root_or_peer);
  Holdup holdup_of(Function function, const Communicator& comm) const;
  void issue(const Call& call);
  void crash_if_due() const;

  const Options& options_;
  const std::vector<Communicator*> comms_;
  const int world_rank_;
  UserThread& thread_;
  const TruthLog& log_;
  Hazards& hazards_;
  std::set<const Communicator*> slow_comms_;  // with the rank of the slow link
  std::vector<std::byte> send_buffer_;
  std::vector<std::byte> receive_buffer_;
};

}  // namespace jaxprof::puppets
