// NCCL calls that may be compared with each other: of one operation, type, algorithm, protocol, number of ranks and
// size, alone in their kernels or not. One pass over the calls sorts their times by kind.
#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <vector>

#include "merge/study/scope.h"

namespace jaxprof::study {

struct CallKind {
  runfile::Coll coll = runfile::Coll::kMissing;
  runfile::Dtype dtype = runfile::Dtype::kMissing;
  runfile::Algo algo = runfile::Algo::kMissing;
  runfile::Proto proto = runfile::Proto::kMissing;
  std::uint32_t n_ranks = runfile::kNoIndex;
  std::uint64_t size_bytes = runfile::kNoRow;
  bool is_grouped = false;  // in one kernel with other calls
  std::int64_t part = 0;    // --by: rank, node or communicator; 0 for all together
  auto operator<=>(const CallKind&) const = default;
};

// All times in ns, of the calls that are asked for.
struct KindTimes {
  CallKind kind;
  std::int64_t n_calls = 0;
  std::vector<std::int64_t> host_ns;
  std::vector<std::int64_t> raw_ns;     // GPU time, waiting included
  std::vector<std::uint32_t> raw_step;  // of each of raw_ns: position in the scope's steps
  std::vector<std::int64_t> net_ns;     // what of it lies behind the last arrival; 0 for an early exit
  std::vector<std::int64_t> wait_ns;    // last arrival minus own
  std::int64_t n_early_exits = 0;       // ended before the last arrival
  // Of the instances that the kind's calls belong to, all members together, asked for or not.
  std::vector<std::int64_t> fast_ns;  // shortest member's GPU time
  std::vector<std::int64_t> mean_ns;  // of the members' GPU times
  std::vector<std::int64_t> xfer_ns;  // last end minus last arrival
  std::vector<std::int64_t> wall_ns;  // last end minus first arrival
  double grouped_bytes = 0;           // of a grouped kind: bytes of all calls in its kernels, mean over instances
  double grouped_bus_bytes = 0;       // the same, each times its bus factor
};

struct CallTimes {
  std::vector<KindTimes> kinds;     // by kind
  std::int64_t n_out_of_scope = 0;  // calls that are asked for but for their time
};

// Calls of the ranks and operation in `options`, in scope; parts of other calls (`parent`) are none. A captured call
// counts only where no replay of its kind was seen.
CallTimes collect_calls(const runfile::RunTables& run, const Scope& scope, const StudyOptions& options, By by);

// The columns that it needs.
bool call_kinds_want(std::string_view path);

}  // namespace jaxprof::study
