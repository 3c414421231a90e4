// jaxprof-study export: what is in a run file, for other programs.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::exporting {

// `arguments` without the program's name and the word export. kUsage, kInputUnreadable, kOutputFailed.
Status run(std::vector<std::string> arguments);

}  // namespace jaxprof::exporting
