// A run, or a part of it, as a Perfetto trace: a process a rank, with its steps, NVTX ranges, NCCL calls, collectives
// and GPU streams.
#pragma once

#include <cstdint>
#include <string>

#include "merge/export/options.h"

namespace jaxprof::exporting {

struct WrittenTrace {
  std::uint64_t n_bytes = 0;
  std::uint64_t n_slices = 0;
  std::string words;  // what is in it
};

// kUsage where --ranks, --steps, --segment or --window name nothing that the run has, and where there would be more
// slices than options.max_slices; kInputUnreadable; kOutputFailed.
Result<WrittenTrace> write_perfetto(const runfile::RunFileReader& reader, const Options& options);

}  // namespace jaxprof::exporting
