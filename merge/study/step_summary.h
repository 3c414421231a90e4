// The summary's section on steps: how many, on which ranks, how long; or why there are none. It compares lengths and
// blames nobody: a rank may be slow because it waits for another.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

// Needs /steps, /job/processes and /diagnostics.
void add_steps(Sections& out, const runfile::RunTables& run);

}  // namespace jaxprof::study
