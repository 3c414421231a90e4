// /clock of the run file: how each node's clock came to the axis, what the probes said, and what is left of errors. The
// attributes about clocks with it. To be filled before events are matched, for whom was last hangs on the errors.
#pragma once

#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// `run` has its nodes. Times are not yet relative to the epoch.
void fill_clock_tables(const RunSources& sources, runfile::RunTables* run);

}  // namespace jaxprof::assembly
