// The command line of jaxprof-study export.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/study/study.h"

namespace jaxprof::exporting {

// More than this a browser does not show.
inline constexpr std::uint64_t kMostSlices = 10'000'000;

struct Options {
  std::string run_file;
  std::string perfetto;         // the trace; "": none
  std::string csv;              // folder of tables; "": none
  study::StudyOptions filters;  // of the trace: ranks, steps, segment, window
  bool is_whole = false;        // --whole-run
  std::uint64_t max_slices = kMostSlices;
  std::string text;  // of --help; then the rest is empty
};

// `arguments` without the program's name and the word export. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments);

}  // namespace jaxprof::exporting
