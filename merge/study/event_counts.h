// What a summary says of events: numbers of rows by kind. A run file may hold more of them than memory, so they are
// counted where they lie, stretch by stretch.
#pragma once

#include <array>
#include <cstdint>

#include "agent/base/result.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/study/call_counts.h"

namespace jaxprof::study {

struct EventCounts {
  static constexpr std::size_t kBits = 16;

  CallCounts calls;
  std::array<std::int64_t, 256> nvtx_by_kind{};  // by NvtxKind
  std::int64_t n_kernels = 0;
  std::int64_t n_kernels_in_graphs = 0;
  std::int64_t n_memops = 0;
  std::int64_t n_api = 0;
  std::int64_t n_graphs = 0;
  std::array<std::int64_t, kBits> gpu_flaws{};  // kernels, memops, API calls and graphs by bit of `flags`
  std::int64_t n_instances = 0;
  std::array<std::int64_t, kBits> instance_flags{};  // by bit of CollectiveTable::flags

  // Of one flag (kWorkNoTime, kInstancePartial, …).
  std::int64_t n_with_flaw(std::uint16_t flag) const;
  std::int64_t n_instances_with(std::uint16_t flag) const;
};

// Of a run whose columns are in memory.
EventCounts count_events(const runfile::RunTables& run);

// Of the file: as many threads as there are processors, some MB each, and a byte for every group call of NCCL. `run`
// has nccl_process_offset. kInputUnreadable where a column is damaged.
Result<EventCounts> count_events(const runfile::RunFileReader& file, const runfile::RunTables& run);

}  // namespace jaxprof::study
