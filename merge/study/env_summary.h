// The summary's section on the environment: how many variables were recorded, and those in which ranks differ that
// should be alike, with who has what.
#pragma once

#include "merge/runfile/run_tables.h"
#include "merge/study/sections.h"

namespace jaxprof::study {

// Needs /job/env.
void add_environment(Sections& out, const runfile::RunTables& run);

}  // namespace jaxprof::study
