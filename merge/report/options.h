// The command line of jaxprof-study report.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::report {

struct Options {
  std::string run_file;
  std::string output;     // the page
  std::string reference;  // --ref
  std::string text;       // of --help; then the rest is empty
};

// `arguments` without the program's name and the word report. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

// "runs/run.h5" -> "runs/run.html".
std::string page_path(const std::string& run_file);

}  // namespace jaxprof::report
