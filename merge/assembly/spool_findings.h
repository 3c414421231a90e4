// What is to be said of each spool: how it ends, what is damaged or missing in it, what its process dropped; and of the
// run's spools together: copies and strangers.
#pragma once

#include <cstdint>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/assembly/run_time.h"

namespace jaxprof::assembly {

// Losses that the spool does not tell of but the wrapper does: counted after the last flush, or on a full disk.
std::uint64_t untold_drops(const RunSources& sources, const SourceProcess& process);

// Of the process with this position in `sources`.
void diagnose_spool(const RunSources& sources, std::size_t index, const RunTime& time, Diagnostics* diagnostics);

// Copies that were left out, spools of other runs, spools whose tasks' records are gone.
void diagnose_spools_together(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
