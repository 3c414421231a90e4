// F4, F5 and the bands of F7: who came late in which step and when, and when collectives ran.
#pragma once

#include "merge/report/figure.h"
#include "merge/study/straggler_facts.h"

namespace jaxprof::report {

// Rank by step: fault, and arrival against the middle. At most `most_columns` columns.
Figure step_map_figure(const runfile::RunTables& run, const study::StragglerFacts& facts, std::size_t most_columns);
// Arrival against the middle over time, of the 8 ranks with most fault.
Figure arrival_course_figure(const runfile::RunTables& run, const study::StragglerFacts& facts);
// When collectives were running, an operation a row: op, begin_ns, end_ns.
study::Table collective_bands(const runfile::RunTables& run, const study::StragglerFacts& facts);

}  // namespace jaxprof::report
