// What GPUs did with their time: five disjoint classes that add up to wall time exactly.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool breakdown_wants(std::string_view path);
Result<Table> breakdown(const StudyRun& run, const StudyOptions& options);

inline constexpr By kBreakdownGroupings[] = {By::kRank, By::kGpu, By::kNode, By::kRun, By::kStep};

inline constexpr Study kBreakdown = {
    .name = "breakdown",
    .answers = "what share of their time do GPUs compute, communicate without computing, copy, and idle?",
    .definitions =
        R"(breakdown: one row a rank, GPU, node or step, or one for the run (--by). Whole nanoseconds, and exactly:

  GPU time = compute + both + exposed + copies + idle

  GPU time    recorded time in scope, summed over the row's GPUs: without --steps, --segment or --window the steady steps, or
              where no step is marked all of the run in which a window was open. What begins before or ends after it counts
              with the part that lies in it. A GPU that a process used and that did nothing in scope is idle all the time.
  compute     at least one compute kernel ran, and no communication. A copy may have run besides. CUDA graphs of which only
              the whole was recorded count as compute.
  both        compute and communication ran at once. Times are unions: kernels that overlap, on one stream or several, count
              once. That is not so in nsys's gpu_time_util, which adds overlapping work and may exceed 100 %.
  exposed     communication ran and no compute.
  copies      only copies and sets of memory ran.
  idle        nothing ran.
              host:    the CUDA call that launched the next work began after the last work had ended: the GPU had run dry
                       (Meta HTA's host wait). The whole gap counts so.
              launch:  it began before, and the gap is shorter than 10 us (HTA's kernel wait, there below 30 ns).
              other:   it began before, and the gap is longer: the work waited for an event, a stream or another GPU.
              unknown: the call was not recorded, or no work came any more.
              Missing where the run file has no CUDA API calls.
  hidden      both / (both + exposed): which share of the communication's time compute ran too. HTA's overlap. Missing
              without communication.
  Communication is what carried out an NCCL call (/nccl_work), copies too, and kernels that are NCCL's or NVSHMEM's by name.
  It includes waiting for other ranks. Times are CUPTI's; they are compared within one GPU, so clocks of nodes do not matter.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = breakdown_wants,
    .stream = breakdown,
    .groupings = kBreakdownGroupings,
    .shown_rows = 64};

}  // namespace jaxprof::study
