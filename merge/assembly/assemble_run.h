// From what a run left in its directory to the tables of its run file.
#pragma once

#include "agent/base/result.h"
#include "merge/assembly/event_sink.h"
#include "merge/assembly/event_tables.h"
#include "merge/rundir/run_directory.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

struct AssembledRun {
  runfile::RunTables tables;
  // Something that should be in the tables is not; /diagnostics says what.
  bool is_partial = false;
};

// Events go to `sink` as they are read, and the tables have everything else. Fails as the sink or the parts do, or when
// there is no room for scratch files.
Result<AssembledRun> assemble_run(const RunSources& sources, const Room& room, PartSource* parts, EventSink* sink);
// The same, read by threads of this process.
Result<AssembledRun> assemble_run(rundir::FoundRun run, const Room& room, EventSink* sink);

// The same with all events in the tables.
AssembledRun assemble_run(rundir::FoundRun run);

}  // namespace jaxprof::assembly
