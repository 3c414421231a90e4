// What NCCL was called for, how often and for how long: nsys's nccl_sum, over all ranks.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool nccl_wants(std::string_view path);
Result<Table> nccl(const StudyRun& run, const StudyOptions& options);

inline constexpr By kNcclGroupings[] = {By::kRun, By::kComm, By::kRank, By::kGpu, By::kNode};

inline constexpr Study kNccl = {
    .name = "nccl",
    .answers = "which NCCL operations were called, by size, type, communicator or rank, and how long did they take?",
    .definitions =
        R"(nccl: one row an operation, data type and size (--by run), or those and a communicator, rank, GPU or node, as nsys's
nccl_sum. spread has percentiles, waiting and bandwidth; overlap has what of it was hidden under compute.

  A call counts, whole, if its host call began in scope: without --steps, --segment or --window the steady steps, or all of the
  run where no step is marked. A call is one rank's. The Sends and Receives that NCCL makes of an AllToAll, Gather or Scatter
  are part of their call. Each replay of a CUDA graph is a call; where replays were seen, the captured call is none.

  op, type    of the call, never of a kernel's name: generic kernels serve several operations.
  size        nccl-tests' size: count x type size for AllReduce, Broadcast, Reduce, Send, Recv; that times the number of ranks
              for AllGather, ReduceScatter, AllToAll, Gather, Scatter. all sizes: size x count.
  time        gpu: from the start of the call's first kernel or copy to the end of its last (CUPTI), waiting for other ranks
              included; a kernel that carried out several calls counts in each. host: time in the call, which is enqueue and
              not transfer; of rows none of whose calls has a GPU time. n: calls with that time.
  time %      share of the listed total of that kind of time.
  total, avg, med, min, max, std   med by linear interpolation (type 7, numpy's default), std of the sample (n - 1). Exact,
              unless a note tells of rounding (kernels --explain).
  over        of the communicator (--by comm): one rank; one node; one rank a node (network only); mixed.
)",
    .takes = kTakesOp | kTakesRanks | kTakesTime,
    .is_wanted = nccl_wants,
    .stream = nccl,
    .groupings = kNcclGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
