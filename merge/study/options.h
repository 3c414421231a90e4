// The command line of jaxprof-study.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/study/render.h"
#include "merge/study/study.h"

namespace jaxprof::study {

struct Options {
  const Study* study = nullptr;        // null: print `text` and end
  std::vector<std::string> run_files;  // one, unless the study compares several
  StudyOptions filters;
  RenderOptions render;
  std::size_t top = 0;             // rows at most; 0: all
  std::string output;              // "": standard output
  bool is_saved = false;           // --save
  std::optional<Finding> fail_on;  // none: no finding is a failure
  std::string text;                // of --help, --version and --explain
};

// `arguments` without the program's name. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::study
