// The command line of jaxprof-merge.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::merge {

struct Options {
  std::string directory;  // the run directory
  std::string run;        // which run of several; "": the only one
  std::string output;     // the run file
  bool may_replace = false;
  bool allows_partial = false;
  bool is_redacted = false;
  bool is_quiet = false;
  std::string text;  // of --help and --version: print it and end
};

// `arguments` without the program's name. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::merge
