// What is to be said of how NCCL's calls were matched: which could not be, and which instances are not what they seem.
#pragma once

#include <cstdint>

#include "merge/assembly/diagnostics.h"
#include "merge/match/instance_matcher.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::assembly {

class MatchingCounts {
 public:
  // Rows of /events/nccl, and of /collectives.
  void add(const runfile::NcclTable& calls);
  void add(const runfile::CollectiveTable& instances);

  void diagnose(const match::UnmatchedCalls& unmatched, Diagnostics* diagnostics) const;

 private:
  std::uint64_t several_gpus_ = 0;
  std::uint64_t partial_ = 0;
  std::uint64_t mismatch_ = 0;
  std::uint64_t overfull_ = 0;    // more members than the communicator has ranks
  std::uint64_t unresolved_ = 0;  // members too close for the clocks
  std::uint64_t unbounded_ = 0;   // members on nodes whose clocks have no bound
};

}  // namespace jaxprof::assembly
