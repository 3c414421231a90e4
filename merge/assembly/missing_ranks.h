// Ranks of which nobody says anything although they should: counted from the world size, against what the selection
// asked for. Each gets a row of /job/tasks and a finding with the reason, as far as the other tasks give one.
#pragma once

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// Wants run->attributes and the rows of the tasks that left records. rank.missing, an error, for each rank that should
// be there; rank.unknown, information, once, where the selection cannot be evaluated here.
void add_missing_ranks(const RunSources& sources, runfile::RunTables* run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
