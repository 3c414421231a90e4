// Which call of CUDA a correlation means. CUPTI numbers calls with 32 bits, so that in a long run numbers come again:
// of several calls with one number, work belongs to the last that began before it. A runtime call and the driver call
// inside of it share their number and count as the outer one.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/match/keyed_lists.h"
#include "merge/runfile/gpu_tables.h"

namespace jaxprof::match {

// 2^32 calls of CUDA take longer than this: what has one correlation and lies closer together was launched at once.
inline constexpr std::int64_t kShortestWrapNs = 60'000'000'000;

// Pure; any thread. Times are ns on the axis of the table.
class ApiCalls {
 public:
  // `api` is borrowed, and in order of start_ns.
  explicit ApiCalls(const runfile::ApiTable& api);

  // Row of the call that launched work of that correlation which started at `start_ns`. `start_ns` < 0, unknown: the
  // call with that number if there is only one. kNoRow: there is none, or which one is not known.
  std::uint64_t launch_of(std::uint64_t correlation, std::int64_t start_ns) const;
  // The row itself, or that of the call around it.
  std::uint64_t outermost(std::uint64_t row) const { return outer_[row]; }

 private:
  const runfile::ApiTable& api_;
  std::vector<std::uint64_t> outer_;        // by row
  KeyNumbers correlations_;                 // numbers of the lists
  NumberedLists<std::uint64_t> by_number_;  // rows of outermost calls, by start
};

}  // namespace jaxprof::match
