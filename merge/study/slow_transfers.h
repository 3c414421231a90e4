// Transfers that take longer than others of their kind although nobody came late: the network's part. The time of a
// transfer is from the last arrival to the last end.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/member_lateness.h"

namespace jaxprof::study {

// A transfer is slow above this many medians of its kind, and above the median by this many MAD.
inline constexpr double kSlowMedians = 1.25;
inline constexpr double kSlowMads = 3;
inline constexpr std::size_t kLeastOfKind = 5;  // fewer of a kind have no usual time

struct SlowTransfers {
  std::vector<std::uint8_t> is_slow;        // by instance
  std::vector<std::int64_t> over_usual_ns;  // by instance: by how much it was longer than its kind; 0 if it was not
  std::vector<std::int64_t> excess_ns;      // [step] of slow ones over their median, times members
  std::vector<std::uint32_t> n_slow;        // [step]
  std::vector<std::int64_t> network_ns;     // [step] all transfers between nodes, times members
};

// Of judged, synchronizing instances with GPU times; what is usual is taken from all complete ones of the run, of equal
// operation, type, size, members and nodes. Slow only where members were apart by less than the transfer was too long.
SlowTransfers slow_transfers(const runfile::RunTables& run, const Arrivals& arrivals, const Judged& judged,
                             std::size_t n_steps);

}  // namespace jaxprof::study
