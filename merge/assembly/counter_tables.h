// Fills what the observers of nodes read: /job/nics, /job/observers, the GPUs that they found in /job/devices, and
// /counters. Every column is made in its full length and then filled in one pass over the spools, so that a run takes
// no more memory here than its columns.
#pragma once

#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// After the GPUs of processes are in /job/devices. Times are absolute until shift_to_epoch.
void fill_counter_tables(const RunSources& sources, const NodeSamples& samples, runfile::RunTables* run);

}  // namespace jaxprof::assembly
