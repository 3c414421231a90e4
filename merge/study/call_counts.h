// NCCL calls of a run counted by what became of them; every call is exactly one of matched, unmatched and
// point-to-point.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "merge/runfile/run_tables.h"

namespace jaxprof::study {

struct CallCounts {
  std::int64_t n_calls = 0;
  std::int64_t n_parts = 0;                           // Sends and Receives of which a call consists; not calls
  std::int64_t n_with_kernel = 0;                     // that GPU work was found for
  std::int64_t n_without_time = 0;                    // of these, without its times
  std::int64_t n_captured = 0;                        // captured into a CUDA graph: nothing ran then
  std::int64_t n_replays = 0;                         // of captured calls, calls as well
  std::map<runfile::JoinPath, std::int64_t> by_path;  // of those with a kernel
  std::int64_t n_grouped = 0;
  std::int64_t n_point_to_point = 0;  // Sends and Receives that the user made: nothing to match them in
  std::int64_t n_matched = 0;
  std::map<std::string, std::int64_t> unmatched;  // by reason
  std::map<runfile::Coll, std::int64_t> by_operation;

  std::int64_t n_unmatched() const { return n_calls - n_matched - n_point_to_point; }
};

CallCounts count_calls(const runfile::RunTables& run);

}  // namespace jaxprof::study
