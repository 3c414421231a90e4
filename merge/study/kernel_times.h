// Times of kernels by name and group, from a table that does not fit into memory: stretch by stretch, process by
// process; a group's sample is summed up and dropped as soon as no later process can add to it.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/group_axis.h"
#include "merge/study/recorded_time.h"
#include "merge/study/sum_columns.h"

namespace jaxprof::study {

// A name in a group.
struct KernelTimes {
  runfile::StringId name{};
  std::uint32_t group = 0;
  std::int64_t n = 0;
  std::int64_t n_comm = 0;  // of them communication, by what carried out NCCL calls or by name
  std::int64_t total_ns = 0;
  bool is_exact = true;
  Row cells;  // sum_cells()
};

// What a rank spent in a name.
struct RankTotal {
  std::int32_t rank = -1;
  std::int64_t total_ns = 0;
};

struct KernelSums {
  std::vector<KernelTimes> rows;
  std::vector<std::vector<RankTotal>> ranks;  // [strings], by process; ranks of several processes come again
  std::vector<std::int64_t> wall_ns;          // [groups]: recorded time in scope, summed over their GPUs
  std::vector<std::int64_t> gpus;             // [groups]
  std::int64_t n_without_time = 0;            // of the ranks asked for, whatever the scope
  std::int64_t n_outside = 0;                 // of windows
  std::int64_t n_out_of_scope = 0;
};

// kInputUnreadable.
Result<KernelSums> sum_kernels(const StudyRun& run, const StudyOptions& options, const RecordedTime& time,
                               GroupAxis& groups);

}  // namespace jaxprof::study
