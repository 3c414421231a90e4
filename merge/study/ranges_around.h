// In which NVTX range a thread was at some instants.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "merge/study/study.h"

namespace jaxprof::study {

struct RangeProbe {
  std::size_t process = 0;
  std::int64_t at_ns = 0;
  std::uint64_t tid = runfile::kNoRow;  // kNoRow: of any thread of the process
  std::string range;                    // answer: "DOMAIN:NAME" of the innermost push/pop range; "": none
};

// `run` has /events/nvtx/process_offset. In any order; kInputUnreadable.
Status find_ranges(const StudyRun& run, std::vector<RangeProbe>& probes);

}  // namespace jaxprof::study
