// How long the program's own ranges took, on the host and on the GPU: nsys's nvtx_sum and nvtx_gpu_proj_sum.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool nvtx_wants(std::string_view path);
Result<Table> nvtx(const StudyRun& run, const StudyOptions& options);

inline constexpr By kNvtxGroupings[] = {By::kRun, By::kRank, By::kNode};

inline constexpr Study kNvtx = {
    .name = "nvtx",
    .answers = "how long do NVTX ranges take, on the host and on the GPU?",
    .definitions =
        R"(nvtx: one row a domain, name and kind of range (--by run), or those and a rank or node, as nsys's nvtx_sum and
nvtx_gpu_proj_sum.

  A range counts, whole, if it began in scope: without --steps, --segment or --window the steady steps, or all of the run where
  no step is marked. Marks have no length and are not listed; ranges that never ended are left out and counted in a note.

  range       DOMAIN:NAME, or NAME in the default domain. NCCL's own ranges are of the domain NCCL.
  kind        push_pop (of one thread, nested) or start_end.
  time %      share of the listed total, as nsys has it: ranges within ranges count in both.
  total, avg, med, min, max, std   of the time from begin to end on the host: med by linear interpolation (type 7, numpy's
              default), std of the sample (n - 1). Exact, unless a note tells of rounding (kernels --explain).
  self        total without that of the push/pop ranges directly within, as nsys's DurNonChild, summed.
  gpu …       the range's projection to the GPU, of ranges that launched work there: from the start of the first kernel or copy
              that the range's thread launched in it to the end of the last. Idle time in between is in it, ranges within
              are not subtracted. Missing where no range of the row has one.
  gpu count   ranges with a projection. ops: kernels, copies and sets that ranges launched, summed.
  depth       mean of how many push/pop ranges of the thread and domain were open around it. children: ranges directly within,
              mean a range.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = nvtx_wants,
    .stream = nvtx,
    .groupings = kNvtxGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
