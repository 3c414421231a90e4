// What the GPUs of one process did, as the rows of the run file that it will become. Numbers are still the process's
// own: `device` and `peer` are CUDA's ordinals, `launch_config` is the spool's, and `api` is a row of the api table
// here. Each table is in order of start_ns; what has no time comes first.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/runfile/gpu_tables.h"

namespace jaxprof::match {

struct GpuWork {
  runfile::KernelTable kernels;
  runfile::MemopTable memops;
  runfile::ApiTable api;
  runfile::OverheadTable overhead;
  runfile::GraphTable graphs;
  runfile::SyncTable syncs;
  runfile::CudaEventTable cuda_events;
  // What NCCL's kernel launches launched: the launch's handle and a correlation, in no particular order.
  struct External {
    std::uint64_t handle;
    std::uint64_t correlation;
  };
  std::vector<External> externals;

  std::uint64_t record_count = 0;    // of all kinds
  std::uint64_t damaged_blocks = 0;  // that did not decode to their end
};

}  // namespace jaxprof::match
