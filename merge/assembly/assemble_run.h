// From what a run left in its directory to the tables of its run file.
#pragma once

#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

struct AssembledRun {
  runfile::RunTables tables;
  // Something that should be in the tables is not; /diagnostics says what.
  bool is_partial = false;
};

AssembledRun assemble_run(rundir::FoundRun run);

}  // namespace jaxprof::assembly
