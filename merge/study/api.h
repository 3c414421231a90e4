// Where host threads spent their time in CUDA: nsys's cuda_api_sum, over all ranks.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool api_wants(std::string_view path);
Result<Table> api(const StudyRun& run, const StudyOptions& options);

inline constexpr By kApiGroupings[] = {By::kRun, By::kRank, By::kNode};

inline constexpr Study kApi = {
    .name = "api",
    .answers = "which calls of the CUDA API take the host's time?",
    .definitions =
        R"(api: one row a function of the CUDA driver or runtime API (--by run), or a function and rank or node, as nsys's
cuda_api_sum. What is recorded are calls that launch, copy, wait or are about graphs.

  A call counts, whole, if it began in scope: without --steps, --segment or --window the steady steps, or all of the run where
  no step is marked. Calls without a length and those outside of windows (flag 8) are left out and counted in a note.

  layer       driver (cu…) or runtime (cuda…). A runtime call contains driver calls, which are rows of their own where they
              were recorded: do not add the layers.
  time %      share of the listed total, as nsys has it.
  total, avg, med, min, max, std   of the host's time in the call: med by linear interpolation (type 7, numpy's default), std
              of the sample (n - 1). Exact, unless a note tells of rounding (kernels --explain). A call that waits for the
              GPU is long because of the GPU.
  failed      calls that returned an error.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = api_wants,
    .stream = api,
    .groupings = kApiGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
