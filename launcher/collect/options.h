// The command line of `jaxprof`, whose first word is a command.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::launcher {

struct CollectOptions {
  std::string text;  // not "": to be printed, and nothing else is to be done (help, version)
  std::string directory;
  std::string run;  // "": all runs of the directory
  bool is_quiet = false;
  bool is_dry_run = false;
};

// `arguments` without the program's name. kUsage for every fault.
Result<CollectOptions> parse_collect_options(std::vector<std::string> arguments);

}  // namespace jaxprof::launcher
