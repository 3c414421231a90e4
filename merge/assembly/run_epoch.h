// Zero of a run's time axis, known before its first event is read: when the first of its processes and observers read
// its clocks. What a spool holds is later than that, or its stamp is wrong.
#pragma once

#include <cstdint>

#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// On the axis, ns since 1970 UTC. 0: nothing of the run has a time.
std::int64_t epoch_of(const RunSources& sources);
// When the last of them did; the same if nothing has a time.
std::int64_t end_of(const RunSources& sources);

// Makes the times of all tables relative to the epoch, but those of the events, which are already.
void shift_to_epoch(std::int64_t epoch_ns, runfile::RunTables* run);

}  // namespace jaxprof::assembly
