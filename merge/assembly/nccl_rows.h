// The NCCL calls of one process as rows: a row a call, and a row for each replay of a captured one that was seen; with
// the times of the GPU work that carried it out, and how that is known.
#pragma once

#include "merge/assembly/call_store.h"
#include "merge/assembly/run_sources.h"
#include "merge/match/gpu_work.h"
#include "merge/match/kernel_join.h"
#include "merge/match/nccl_calls.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::assembly {

// Numbers are the process's own: devices are CUDA's ordinals, rows of the work's
// tables are those of GpuWork. Sizes that hang on how many ranks a communicator has are missing. Times are absolute.
struct ProcessCalls {
  StoredCalls calls;            // rows by start_ns
  runfile::NcclWorkTable work;  // by call
};

// `join` is of `nccl` and `work`. Texts are interned in `strings`.
ProcessCalls nccl_rows(const SourceProcess& process, const match::NcclCalls& nccl, const match::NcclJoin& join,
                       const match::GpuWork& work, runfile::StringTable* strings);

}  // namespace jaxprof::assembly
