// Which calls of different processes are one: a collective is identified by its communicator, its function and its
// number on the two, which are the same on every member; of a captured one also by which capture and replay it was. A
// call that nobody else made, or that some made with another size, is kept and marked; nothing is shifted to make calls
// fit.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/run_tables.h"

namespace jaxprof::match {

struct UnmatchedCalls {
  std::uint64_t without_communicator = 0;  // NVTX of NCCL before 2.25, or its registration was lost
  std::uint64_t without_sequence = 0;      // calls that the plugin did not enqueue, beside ones that it did
  std::uint64_t repeated = 0;              // a second call of a member under the same number (graph replays)
  std::uint64_t unnumbered_replays = 0;    // of processes whose window opened by time: it may have been another replay
  std::uint64_t replays_after_losses = 0;  // of processes that lost GPU records: which replay it was is not known
};

// Fills /collectives from the rows of /events/nccl, /comms and /job/processes, and sets their `instance`.
// Point-to-point rows and the parts of a decomposed call are left out. A communicator of unknown size counts the
// members that were seen. `calls_in_plan` says for each row how many calls shared its kernel, 0 where that is not
// known.
// `has_lost_gpu_work` says it of each process: replays are numbered by their work, and a lost one would shift the rest.
UnmatchedCalls match_instances(const std::vector<std::uint64_t>& calls_in_plan,
                               const std::vector<bool>& has_lost_gpu_work, runfile::RunTables* run);

}  // namespace jaxprof::match
