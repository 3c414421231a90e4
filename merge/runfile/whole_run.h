// Everything that is wanted of a run file, in memory at once.
#pragma once

#include "agent/base/result.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/table_source.h"

namespace jaxprof::runfile {

// Strings, and the columns, offsets and counters that `is_wanted` names, into `run`. Checks rank, type and length of
// each dataset and, at the end, all references. Large columns are inflated by several threads.
Status read_run(const TableSource& source, RunTables& run, const IsWanted& is_wanted);

}  // namespace jaxprof::runfile
