// What is wrong or doubtful about the clocks of a run.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// `run` has /clock, its audit too.
void diagnose_clocks(const RunSources& sources, const runfile::RunTables& run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
