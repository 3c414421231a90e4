// Ranks that are not one process's from the run's begin to its end: two tasks with one number, and ranks that were
// started again. Their events lie in the run file under one rank, and readers would take them for one rank's.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/run_time.h"

namespace jaxprof::assembly {

// rank.duplicate, an error: two tasks had one rank at one time. rank.repeated, a warning: one after the other, which
// may be two runs with one name. Of each the first rank is told: what is wrong is the numbering, or the name.
// rank.restarted, information: processes of one task, one after the other, as torchrun starts its workers again.
void diagnose_ranks(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
