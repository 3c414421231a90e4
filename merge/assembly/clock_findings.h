// What is wrong or doubtful about the clocks of a run, and the check of the aligned times by collectives.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Holds the instances that have GPU times on several nodes against the clocks and fills the counts of /clock/audit.
// `run` has its events and instances.
void audit_clocks(runfile::RunTables* run);

// `run` has /clock.
void diagnose_clocks(const RunSources& sources, const runfile::RunTables& run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
