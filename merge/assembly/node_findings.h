// What is to be said of the observers of nodes: what they could not read, how they ended, times that nobody observed,
// and what happened to ports and counters.
#pragma once

#include <vector>

#include "merge/assembly/counter_tables.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// After fill_counter_tables, whose answer is `ports`, and before times are shifted.
void diagnose_nodes(const RunSources& sources, const NodeSamples& samples, const runfile::RunTables& run,
                    const std::vector<PortFlags>& ports, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
