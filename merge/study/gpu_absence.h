// Why there is nothing to say of GPUs: the exact reason, since "no kernels" has many.
#pragma once

#include <string>
#include <string_view>

#include "merge/study/study.h"

namespace jaxprof::study {

// Of a run without any row in a table of GPU work; `what` is "kernels", "copies", ….
std::string why_no_gpu_rows(const runfile::RunTables& run, std::string_view what);
// Of a run that has rows, of which none is in scope.
std::string why_none_fits(const StudyOptions& options, const std::string& scope_words, std::string_view what);

}  // namespace jaxprof::study
