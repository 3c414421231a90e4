// The command line of jaxprof-study.
#pragma once

#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/study/render.h"
#include "merge/study/study.h"

namespace jaxprof::study {

struct Options {
  const Study* study = nullptr;  // null: print `text` and end
  std::string run_file;
  StudyOptions filters;
  RenderOptions render;
  std::string output;  // "": standard output
  std::string text;    // of --help, --version and --explain
};

// `arguments` without the program's name. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::study
