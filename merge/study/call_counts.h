// NCCL calls of a run counted by what became of them; every call is exactly one of matched, unmatched and
// point-to-point. They are counted stretch by stretch, in the memory of the numbers of group calls.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

// Calls of one process that share a group call with others, told by the group call's number.
class GroupedCalls {
 public:
  // Numbers below that of the process's calls are positions in a vector.
  explicit GroupedCalls(std::uint64_t most_calls) : most_calls_(most_calls) {}
  void take(std::uint64_t group);
  std::int64_t count() const { return n_; }

 private:
  std::uint8_t& next_adds(std::uint64_t group);

  std::uint64_t most_calls_;
  // What the next call of each group adds to the count: the first nothing, the second both, all others themselves.
  std::vector<std::uint8_t> small_;                        // by number
  std::unordered_map<std::uint64_t, std::uint8_t> large_;  // by numbers that are no positions
  std::int64_t n_ = 0;
};

// Any thread, several at once.
class CallCounter {
 public:
  // The rows of each process: nccl_process_offset, which outlives this.
  explicit CallCounter(std::span<const std::uint64_t> process_offset);

  // Rows of /events/nccl from row `first` on, each row once; needs the columns of wants().
  void take(const runfile::NcclTable& rows, std::uint64_t first);
  // The same for the reasons of those that are unmatched; needs the columns of wants_for_reasons().
  void take_reasons(const runfile::NcclTable& rows);

  CallCounts counts() const;

  static bool wants(std::string_view path);
  static bool wants_for_reasons(std::string_view path);

 private:
  void take_groups(const runfile::NcclTable& rows, std::uint64_t first);

  std::span<const std::uint64_t> process_offset_;
  mutable std::mutex mutex_;
  CallCounts counts_;
  std::vector<GroupedCalls> grouped_;  // by process
};

CallCounts count_calls(const runfile::RunTables& run);

}  // namespace jaxprof::study
