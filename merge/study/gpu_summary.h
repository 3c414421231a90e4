// The section of a summary on GPUs: devices, how CUPTI recorded them, records and their flaws.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/event_counts.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

// Needs /job/*; `counts` are of the same run.
void add_gpus(Sections& out, const runfile::RunTables& run, const EventCounts& counts);

}  // namespace jaxprof::study
