// Sections of a summary on what observers of nodes read: which nodes, how well, at what cost; and clocks of GPUs.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

void add_network(Sections& out, const runfile::RunTables& run);

// Nothing where no GPU was watched.
void add_gpu_clocks(Sections& out, const runfile::RunTables& run);

// The columns of /counters that the two need.
bool node_summary_wants(std::string_view path);

}  // namespace jaxprof::study
