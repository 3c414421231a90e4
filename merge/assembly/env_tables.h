// /job/env: which variables the tasks' commands got, and between what they differ. A run of thousands of ranks has some
// hundred variables, nearly all of them alike everywhere; what matters is the one that is not, and should be.
#pragma once

#include <cstddef>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Of a run; jaxprof-exec records some hundred. Forged records shall not make tables without end.
inline constexpr std::size_t kMaxVariableNames = 2048;

// Needs nothing of `run` but its strings. Tasks are positions in RunSources::tasks, as in /job/tasks.
void fill_env_tables(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
