// Which kernels GPUs spent their time in: nsys's cuda_gpu_kern_sum, over all ranks, and how unevenly ranks did.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool kernels_wants(std::string_view path);
Result<Table> kernels(const StudyRun& run, const StudyOptions& options);

inline constexpr By kKernelGroupings[] = {By::kRun, By::kRank, By::kGpu, By::kNode};

inline constexpr Study kKernels = {
    .name = "kernels",
    .answers = "which kernels take the GPUs' time, and does one take longer on some ranks?",
    .definitions =
        R"(kernels: one row a kernel name (--by run), or a name and rank, GPU or node, as nsys's cuda_gpu_kern_sum.

  A kernel counts, with its whole length, if it began in scope: without --steps, --segment or --window the steady steps, or
  all of the run where no step is marked. Kernels without a start or a length (flags 1, 2) and those that neither ran nor
  were launched in a window (flag 8: what was recorded around a window by chance) are left out and counted in a note.

  time %      share of the listed kernels' total, as nsys has it. Not a share of wall time.
  of wall     the row's total as a share of the recorded time in scope of the GPUs that it stands for. Kernels that run at
              once, on one stream or several, are added, so that the column may sum up to more than 1; breakdown tells
              how long a GPU was busy.
  total, avg, med, min, max, std   of the kernels' lengths on the GPU, by CUPTI: avg arithmetic, med the median by linear
              interpolation (type 7, numpy's default), std of the sample (n - 1). One pass over the file; each different
              length is kept with how often it came, so med and std are exact. Only where all names together have more than
              6 million different lengths are med and std of those with most rounded by at most 0.1 %, which a note tells.
  imbalance   the longest total of a rank divided by the median over the ranks that ran the kernel; of how many ranks:
              "ranks". --by rank: this rank's total divided by that median. Of communication most of it is waiting
              (lateness and stragglers tell who made it wait).
  class       comm: it carried out an NCCL call (/nccl_work), or is NCCL's or NVSHMEM's by its name. compute: all others.
              mixed: some of its instances were communication.
  name        kernel: function and template arguments, cut. --wide and machine formats have the demangled name in full, the
              function alone (base, as nsys's) and the name as compiled (name), by which others' tools join. A name of NCCL's
              does not tell the operation: generic kernels serve several. nccl and overlap have operations from the calls.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = kernels_wants,
    .stream = kernels,
    .groupings = kKernelGroupings,
    .shown_rows = 30};

}  // namespace jaxprof::study
