// What changed between two runs: step time, NCCL calls and kernels, each with a test of whether it is more than chance.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

Result<Table> diff(std::span<const std::string> run_files, const StudyOptions& options);

inline constexpr double kSmallestDifference = 0.02;  // of p50, below which nothing is called a difference
inline constexpr double kChance = 0.05;              // that any of all rows differs by chance alone

inline constexpr Study kDiff = {.name = "diff",
                                .answers = "what is slower or faster in a second run?",
                                .definitions = R"(diff A.h5 B.h5: one row a thing that both runs have, or one of them.

  what        step: length of steps (median over processes). nccl: calls of one operation, type, algorithm, protocol, ranks and
              size (grouped: in one kernel with others); an instance counts once, with its shortest member's GPU time (no clock is
              involved); where a run has no GPU times the host's times of the calls are compared, and "time" says so.
              kernel: by name, lengths on all ranks.
  n, p50, p99 of A and of B; of the steady steps of each run, or of those that --steps leaves.
  ratio       p50 of B over p50 of A. low, high: its 95 % interval, by a bootstrap of both medians (1,000 resamples, fixed seed;
              of samples of more than 2,000 values so many, evenly spread).
  p           Mann and Whitney's test that values of one run are as likely to be larger as smaller; needs 8 values on both sides.
  differs     1: p50 differs by more than 2 %, the interval excludes 1, and p times the number of rows with a p is below 5 %
              (Bonferroni: of hundreds of kinds some differ by chance). Those rows come first, by how much time they make:
              |p50 of B - p50 of A| x n of B.
)",
                                .takes = kTakesTime | kTakesOp,
                                .compare = diff,
                                .shown_rows = 40};

}  // namespace jaxprof::study
