// Making, splitting and destroying communicators as NCCL does it: ids from a shared unique id or from the
// parent, the plugin's init and finalize on a thread of NCCL's own, the NVTX payload on pop. All ranks of the
// communicator call these in the same order, on one thread of the process at a time.
#pragma once

#include <memory>

#include "tests/puppets/nvtx_ranges.h"
#include "tests/puppets/profiler_plugin.h"
#include "tests/puppets/truth_log.h"

namespace jaxprof::puppets {

// Where this process runs. Nodes count from 0 in order of their lowest rank.
struct Place {
  int node;
  int local_rank;
};
// `ranks_per_node` > 0 pretends nodes of that many ranks, so that one machine shows what several would.
Place find_place(MPI_Comm world, int ranks_per_node);

class CommLifecycle {
 public:
  // `name`: of every communicator, for the plugin; null as with XLA. Must stay.
  CommLifecycle(ProfilerPlugin& plugin, const NvtxRanges& ranges, const TruthLog& log, Place place,
                const char* name = nullptr)
      : plugin_(plugin), ranges_(ranges), log_(log), place_(place), name_(name) {}

  // The communicator's id, as all of `comm` know it.
  static std::uint64_t make_id(MPI_Comm comm);

  // ncclCommInitRank of one of several members that this process has of a communicator of its own, on GPU `rank`. The
  // members join on a thread each.
  std::unique_ptr<Communicator> join(std::uint64_t id, int n_members, int rank);
  // ncclCommInitRank over all ranks of `world`.
  std::unique_ptr<Communicator> init_rank(MPI_Comm world);
  // ncclCommSplit.
  std::unique_ptr<Communicator> split(Communicator& parent, int color, int key);
  // ncclCommDestroy.
  void destroy(std::unique_ptr<Communicator> comm);

 private:
  void fill(Communicator& comm) const;
  void init_on_own_thread(Communicator& comm);

  ProfilerPlugin& plugin_;
  const NvtxRanges& ranges_;
  const TruthLog& log_;
  const Place place_;
  const char* const name_;
};

}  // namespace jaxprof::puppets
