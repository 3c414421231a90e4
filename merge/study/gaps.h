// Where GPUs stood idle for long, between which work, and why.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

inline constexpr std::int64_t kLeastGapNs = 1'000'000;

bool gaps_wants(std::string_view path);
Result<Table> gaps(const StudyRun& run, const StudyOptions& options);

inline constexpr Study kGaps = {
    .name = "gaps",
    .answers = "where do GPUs idle for more than a millisecond, between which kernels, and why?",
    .definitions =
        R"(gaps: one row a stretch of more than 1 ms in which a GPU ran nothing, the longest first.

  Idle are instants in which neither a kernel nor a copy ran, on whatever stream, as in breakdown; within scope: without
  --steps, --segment or --window the steady steps, or where no step is marked all of the run in which a window was open. nsys's
  gpu_gaps lists those above 500 ms, for which a step of a large job is too short.

  at          begin, on the run's time axis. step: in which it begins.
  cause       host:    the CUDA call that launched the next work began after the last work had ended: the GPU had run dry
                       (Meta HTA's host wait).
              other:   it began before, and yet the work waited: for an event, a stream, another GPU.
              unknown: the call was not recorded, or no work came any more.
  before      what ended last before the gap. after: what began next. Missing at the recording's ends.
  launched    when the call began that launched the work after it, since the gap's begin; negative: before.
  range       innermost push/pop NVTX range in which the thread that launched that work then was; where the call was not
              recorded, in which any thread of the process was when the gap ended.
)",
    .takes = kTakesRanks | kTakesTime,
    .is_wanted = gaps_wants,
    .stream = gaps,
    .shown_rows = 20};

}  // namespace jaxprof::study
