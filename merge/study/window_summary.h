// The section of a summary on windows: how they were asked for, and when and why they opened and closed.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

// Needs /job/processes and /segments.
void add_windows(Sections& out, const runfile::RunTables& run);

}  // namespace jaxprof::study
