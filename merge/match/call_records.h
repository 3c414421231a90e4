// From rows of /events/nccl to what matching has to know of them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>

#include "agent/base/result.h"
#include "merge/match/call_record.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::match {

// One process's rows: elements [first, last) of a table of which element 0 is row `base` of /events/nccl.
struct ProcessRows {
  std::uint32_t process = runfile::kNoIndex;
  std::size_t first = 0;
  std::size_t last = 0;
  std::uint64_t base = 0;
};

// Calls `take` with the record of each row. `calls_in_plan` says for each element of the table how many calls shared
// its kernel, 0 where that is not known. Stops at the first failure of `take`.
Status for_each_record(const runfile::NcclTable& calls, const ProcessRows& rows,
                       std::span<const std::uint32_t> calls_in_plan,
                       const std::function<Status(const CallRecord&)>& take);

}  // namespace jaxprof::match
