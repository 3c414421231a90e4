// What GPUs did for each NVTX range: the work that was launched by the range's thread between its begin and its end.
// A range is what a program calls a phase; its own times say when the host passed it, these when the GPUs carried it
// out (nsys calls this the projection of a range). Work that a range inside launched counts for the ones around it as
// well.
//
// Only for push/pop ranges that ended: where an end was not recorded, nothing says which work came after it.
#pragma once

#include "merge/match/gpu_work.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::match {

// Fills gpu_start_ns, gpu_dur_ns and gpu_ops of `ranges`, which are of the same process and axis as `work` and in the
// order of start_ns; rows of `work` point to their API calls. Work without times is counted and moves no time. Without
// any API call that launched work nothing is known, and all is left missing.
void project_ranges(const GpuWork& work, runfile::NvtxTable* ranges);

}  // namespace jaxprof::match
