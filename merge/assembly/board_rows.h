// GPUs that observers of nodes found, in /job/devices. One that a process used has a row there already, by its UUID,
// and gets what only the observer knows; the others get rows of their own behind those of processes.
#pragma once

#include <cstddef>
#include <vector>

#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// The row of each of `gpus` in /job/devices.
std::vector<std::size_t> fill_board_rows(const RunSources& sources, const std::vector<SampledSubject>& gpus,
                                         runfile::RunTables* run);

}  // namespace jaxprof::assembly
