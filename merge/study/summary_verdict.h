// The summary's first line: what makes the run less than it should be, then how much of it there is.
#pragma once

#include <string>

#include "merge/runfile/run_tables.h"
#include "merge/study/event_counts.h"

namespace jaxprof::study {

// "partial: 2 of 4 tasks cut; 4 of 4 profiled on 2 nodes; …". `counts` are of the same run.
std::string verdict_of(const runfile::RunTables& run, const EventCounts& counts);

}  // namespace jaxprof::study
