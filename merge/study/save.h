// --save: a study's table beside its run file, for pandas and for later runs of other tools. A finished run file is
// never changed: RUN.h5 has RUN.analysis.h5, with one table a study, the last one saved.
#pragma once

#include <string>

#include "agent/base/result.h"
#include "merge/study/table.h"

namespace jaxprof::study {

// "run.h5" -> "run.analysis.h5".
std::string analysis_path(const std::string& run_file);

// Adds the table, or puts it in place of the one of its study; other tables stay. The file is replaced whole or not at
// all. kOutputFailed.
Status save_table(const Table& table, const std::string& run_file);

}  // namespace jaxprof::study
