// What may be wrong with a rank of a synthetic run, so that a test can see whether the merge says it. One fault a rank.
#pragma once

#include <cstdint>
#include <string>

#include "agent/base/result.h"

namespace jaxprof::synthetic {

enum class FaultKind {
  kLate,       // all that it does begins `late_ns` after the others
  kMissing,    // it left nothing
  kTorn,       // killed with its wrapper in the middle of the run: no end, and the last block is cut
  kDuplicate,  // its spool was copied beside itself
  kSwap,       // two calls of one function and communicator, of different sizes, in the other order
  kReorder,    // two calls of different functions of one communicator in the other order
  kSkip,       // one call never made: those of its function that follow move up
  kLose,       // one call made, but its events lost: the numbers of those that follow are right
  kLateStep,   // recorded from step 1 on, where others are from step 0 on
};

struct Fault {
  FaultKind kind = FaultKind::kLate;
  std::uint32_t rank = 0;
  std::int64_t late_ns = 0;
};

// "late:RANK:MICROSECONDS", or "WORD:RANK" with missing, torn, duplicate, swap, reorder, skip, lose or late-step.
Result<Fault> parse_fault(const std::string& text);

}  // namespace jaxprof::synthetic
