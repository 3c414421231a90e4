// The command line of synthetic_run.
#pragma once

#include <string>
#include <vector>

#include "tests/synthetic/run_plan.h"

namespace jaxprof::synthetic {

struct Options {
  RunPlan plan;
  std::string directory;
  unsigned threads = 1;
  std::string text;  // to be printed instead, for --help
};

// kUsage with what is wrong.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::synthetic
