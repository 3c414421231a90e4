// One process's activities as rows: times on the run's axis, words for CUPTI's numbers, each piece of work brought
// together with the call that launched it. What is wrong with a record (no time, an end before its start, a start
// before its launch, a time outside of every window) is marked on its row; nothing is left out for it.
#pragma once

#include <vector>

#include "merge/assembly/windows.h"
#include "merge/clock/gpu_clock.h"
#include "merge/match/gpu_work.h"
#include "merge/rundir/spool_trace.h"
#include "merge/runfile/string_table.h"

namespace jaxprof::assembly {

// `clock` is valid; `segments` are the process's. Names are interned in `strings`.
match::GpuWork read_gpu_work(const rundir::SpoolTrace& trace, const clock::GpuClockModel& clock,
                             const std::vector<Segment>& segments, runfile::StringTable* strings);

}  // namespace jaxprof::assembly
