// Fills the events of all processes, the communicators that they name, and the instances that they make up.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Times are absolute (CLOCK_REALTIME, ns) until shift_to_epoch.
void fill_event_tables(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics);

// Moves all times so that the earliest of the run is 0, and notes where that lies.
void shift_to_epoch(runfile::RunTables* run);

}  // namespace jaxprof::assembly
