// Fills what describes the run itself: root attributes, /job/nodes, /job/tasks with each rank that is missing and why,
// /job/processes; and the diagnostics that belong to them.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Times are absolute (CLOCK_REALTIME, ns) until shift_to_epoch.
void fill_job_tables(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
