// What a fault changes in the calls of its rank: which unit is called with another function or size, is left out, or is
// called and not recorded. Found before the run is written, since a skipped call moves all that follow.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "tests/synthetic/timeline.h"

namespace jaxprof::synthetic {

struct CallChange {
  bool is_omitted = false;     // not called
  bool is_unrecorded = false;  // called, and its events lost
  // else: called with these
  spool::NcclFunction function = spool::NcclFunction::kUnknown;
  std::uint64_t bytes = 0;
};

using CallChanges = std::unordered_map<std::uint64_t, CallChange>;  // by unit

// Nothing for faults that change no calls. kUsage where the run has no calls that such a fault could be about.
Result<CallChanges> changes_of(const RunPlan& plan, const TimelineSize& size, const Fault& fault);

}  // namespace jaxprof::synthetic
