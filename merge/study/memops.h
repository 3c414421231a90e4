// Copies and sets of GPU memory: nsys's cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum in one table, with the
// bandwidth that neither has.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool memops_wants(std::string_view path);
Result<Table> memops(const StudyRun& run, const StudyOptions& options);

inline constexpr By kMemopGroupings[] = {By::kRun, By::kRank, By::kGpu, By::kNode};

inline constexpr Study kMemops = {
    .name = "memops",
    .answers = "how long do copies and sets of GPU memory take, how large are they, and how fast?",
    .definitions =
        R"(memops: one row a kind of copy, or memset (--by run), or a kind and rank, GPU or node, as nsys's
cuda_gpu_mem_time_sum and cuda_gpu_mem_size_sum.

  A copy counts, whole, if it began in scope: without --steps, --segment or --window the steady steps, or all of the run where
  no step is marked. Those without a start or a length (flags 1, 2) and those outside of windows (flag 8) are left out and
  counted in a note.

  time %      share of the listed total, as nsys has it. of wall: the total as a share of the recorded time in scope of the
              row's GPUs; copies that run at once are added.
  total, avg, med, min, max, std   of the times on the GPU, by CUPTI: med by linear interpolation (type 7, numpy's default),
              std of the sample (n - 1); then the same of the sizes. Exact, unless a note tells of rounding (kernels --explain).
  bandwidth   total size / total time, of copies that have both; 10^9 bytes a second. Of copies that run at once it is what
              each got, not what the link carried.
  pageable    copies from or to pageable host memory, which the driver stages, and which block the host.
  nccl        copies that carried out NCCL calls (/nccl_work): communication, in breakdown too.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = memops_wants,
    .stream = memops,
    .groupings = kMemopGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
