// Runs of NCCL calls with known times, for the studies' tests.
#pragma once

#include "merge/runfile/run_tables.h"

namespace jaxprof::study::test {

struct Call {
  runfile::Coll coll = runfile::Coll::kAllReduce;
  std::uint64_t size_bytes = 1024;
  std::int64_t host_ns = 10;
  std::int64_t gpu_ns = -1;        // -1: no kernel
  std::int64_t gpu_start_ns = -1;  // -1: not told
  std::int64_t replay = -1;        // of a captured call; -1: none
  bool is_captured = false;
};

// One communicator over `calls.size()` processes, one rank each; calls[r][k] is rank r's k-th call. The k-th calls of
// all ranks are one instance.
runfile::RunTables run_of(const std::vector<std::vector<Call>>& calls);

}  // namespace jaxprof::study::test
