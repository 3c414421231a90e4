// The section of a summary on GPUs: devices, how CUPTI recorded them, records and their flaws.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

// Needs /job/*, the `flags` of /events/kernels, memops, api and graphs, and /events/kernels/graph_node.
void add_gpus(Sections& out, const runfile::RunTables& run);

}  // namespace jaxprof::study
