// What is to be said of arrivals, whatever is computed from them: whose times they are, what was left out, and why
// there are none.
#pragma once

#include <string>

#include "merge/study/member_lateness.h"
#include "merge/study/table.h"

namespace jaxprof::study {

// "steps 2-19; arrival: start of the GPU kernel", with where members lack.
std::string arrival_heading(const Arrivals& arrivals, const Scope& scope, const Judged& judged);
// Instances that were left out, unresolved ones, early leavers.
void add_arrival_notes(const runfile::RunTables& run, const Arrivals& arrivals, const Judged& judged, Table& table);
// Of a run of which nothing is judged.
std::string why_no_arrivals(const runfile::RunTables& run, const StudyOptions& options, const Arrivals& arrivals,
                            const Judged& judged);
// "1 instance", "5 instances".
std::string count_of(std::size_t n, const char* thing);

}  // namespace jaxprof::study
