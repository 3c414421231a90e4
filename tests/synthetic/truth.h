// What is in a synthetic run, as the merge has to find it: rows of each table, instances and what is wrong with them,
// how late each rank came. One process's part is a RunTruth of its own, and parts are added up.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tests/synthetic/run.h"

namespace jaxprof::synthetic {

struct RankTruth {
  std::uint64_t calls = 0;
  std::uint64_t kernels = 0;
  // Over the collectives that it recorded: how long after their first members it came.
  std::uint64_t collectives = 0;
  std::int64_t lateness_ns = 0;  // sum
  std::uint64_t came_last = 0;
};

// A call that its rank did not make, or made otherwise than the other members.
struct OddCall {
  std::uint32_t rank = 0;
  CommKind comm = CommKind::kWorld;
  std::uint64_t comm_hash = 0;
  spool::NcclFunction function = spool::NcclFunction::kAllReduce;
  std::uint64_t sequence = 0;
};

struct RunTruth {
  std::uint32_t processes = 0;  // that left a spool
  std::uint64_t spool_bytes = 0;
  std::uint64_t events = 0;  // records in the spools
  std::uint64_t dropped = 0;
  // Rows.
  std::uint64_t kernels = 0;
  std::uint64_t api = 0;
  std::uint64_t nvtx = 0;
  std::uint64_t nccl = 0;
  std::uint64_t nccl_work = 0;
  std::uint64_t steps = 0;
  // Instances.
  std::uint64_t collectives = 0;
  std::uint64_t members = 0;
  std::uint64_t partial = 0;
  std::uint64_t mismatched = 0;
  // Sends and receives.
  std::uint64_t messages = 0;       // of which both are there
  std::uint64_t half_messages = 0;  // of which one is
  std::map<std::uint32_t, RankTruth> ranks;
  std::vector<OddCall> missing_calls;  // lost or never made: the instance lacks the rank
  std::vector<OddCall> moved_calls;    // swapped or reordered, as the rank numbered them

  void add(RunTruth part);
};

std::string to_json(const RunTruth& truth, const Run& run);

}  // namespace jaxprof::synthetic
