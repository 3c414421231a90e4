// Which share of each NCCL operation's time was hidden under compute: nsys's nccl_gpu_overlap_trace, summed up.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool overlap_wants(std::string_view path);
Result<Table> overlap(const StudyRun& run, const StudyOptions& options);

inline constexpr By kOverlapGroupings[] = {By::kRun, By::kRank, By::kGpu, By::kNode};

inline constexpr Study kOverlap = {
    .name = "overlap",
    .answers = "which share of each NCCL operation's time is hidden under compute, and which is exposed?",
    .definitions =
        R"(overlap: one row an operation, kind of communicator and size (--by run), or those and a rank, GPU or node; nsys's
nccl_gpu_overlap_trace lists single operations.

  A call counts, whole, if its host call began in scope: without --steps, --segment or --window the steady steps, or all of the
  run where no step is marked. Only calls with GPU times (CUPTI) are here; how many have none is told.

  over        one rank; one node; one rank a node (network only); mixed: several nodes, with several ranks on some.
  total       GPU time of the calls: from the start of a call's first kernel or copy to the end of its last, waiting for other
              ranks included. A kernel that carried out several calls counts in each, so rows may add up to more than the
              communication of breakdown, where each instant counts once.
  hidden      of that the time in which a compute kernel ran on the same GPU: nsys's Concurrent. exposed: the rest.
              hidden + exposed = total, in whole nanoseconds.
  hidden %    hidden / total: nsys's Overlap %. Communication is what /nccl_work or a kernel's name tells, so that none of it
              passes for compute.
  worst       the call with the longest exposed time of the row.
)",
    .takes = kTakesOp | kTakesRanks | kTakesTime,
    .is_wanted = overlap_wants,
    .stream = overlap,
    .groupings = kOverlapGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
