// The command line of jaxprof-merge.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/run_file_writer.h"

namespace jaxprof::merge {

struct Options {
  std::string directory;  // the run directory
  std::string run;        // which run of several; "": the only one
  std::string output;     // the run file
  bool may_replace = false;
  bool allows_partial = false;
  bool is_redacted = false;
  bool is_quiet = false;
  runfile::Compression compression = runfile::Compression::kGzip;
  unsigned n_threads = 0;                 // 0: as many as the machine has
  std::size_t memory_bytes = 256U << 20;  // about, for what is read and not yet written
  std::string scratch;                    // folder for what is more; "": that of the run file
  std::string text;                       // of --help and --version: print it and end
};

// `arguments` without the program's name, which is `program`. kUsage with one line for every fault.
Result<Options> parse_options(std::vector<std::string> arguments, const std::string& program = "jaxprof-merge");

}  // namespace jaxprof::merge
