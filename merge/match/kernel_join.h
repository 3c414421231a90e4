// NCCL's calls and the GPU work that carried them out. Four paths, the surest first; what one has joined, the next
// leaves alone:
//   external  NCCL's plugin marked the launch, and CUPTI tells which work it was
//   graph     the work's graph node was made while NCCL launched for the call; its k-th record is replay k
//   scope     the work was launched by the call's thread within its NVTX range, or the plugin's bracket, for its GPU
//   order     the k-th of NCCL's kernels on the call's stream, if nothing contradicts it
// A kernel may carry out several calls and a call may take several kernels, so the answer is pairs. A call that
// consists of sends and receives has the work of its parts.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "merge/match/nccl_calls.h"
#include "merge/match/plugin_events.h"
#include "merge/match/work_index.h"
#include "merge/rundir/spool_trace.h"
#include "merge/runfile/enums.h"

namespace jaxprof::match {

// A replay of a captured call that only the GPU told of.
struct NcclReplay {
  std::size_t capture = kNoCall;  // position in NcclCalls::calls
  std::uint64_t replay = 0;       // from 0
};

struct NcclWork {
  std::size_t call = kNoCall;  // position in NcclCalls::calls, or behind them in NcclJoin::replays
  WorkRow work;
  runfile::JoinPath path = runfile::JoinPath::kMissing;
};

struct NcclJoin {
  std::vector<NcclReplay> replays;  // by capture and number
  std::vector<NcclWork> work;       // by call, then work
};

// Of one process. `axis_ns` brings a stamp of its event clock to the axis of `work`.
NcclJoin join_kernels(const rundir::SpoolTrace& trace, const NcclCalls& calls, const PluginEvents& plugin,
                      const GpuWork& work, const runfile::StringTable& strings,
                      const std::function<std::int64_t(std::uint64_t)>& axis_ns);

}  // namespace jaxprof::match
