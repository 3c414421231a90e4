// jaxprof-study report: all studies of a run as one page to look at and to mail.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::report {

// Rows of a study's table on the page: all ranks of the largest runs, but not a million gaps.
inline constexpr std::size_t kMostRows = 2048;

// `arguments` without the program's name and the word report. kUsage, kInputUnreadable, kOutputFailed; kPartial where
// the page was written and a study is missing in it.
Status run(std::vector<std::string> arguments);

}  // namespace jaxprof::report
