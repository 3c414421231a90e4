// How long each step took, on which rank longest, and when the pace changed.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool pace_wants(std::string_view path);
Table pace(const runfile::RunTables& run, const StudyOptions& options);

inline constexpr By kPaceGroupings[] = {By::kStep, By::kRank};

inline constexpr Study kPace = {
    .name = "pace",
    .answers = "how long does each step take, on which rank, and when did that change?",
    .definitions =
        R"(pace: one row a step, or with --by rank one a step and rank (a map of steps and ranks). A step lasts from its begin to
the begin of the next one of its process.

  length      median over the processes that marked the step; of a rank its own. Shortest and longest: of any process.
  slowdown    length / median length of all steps that are shown.
  wait        summed over members: how long they waited for the last one of each collective of the step, by GPU times where
              they were recorded, else by host enqueue. Not of collectives whose order the clocks do not tell.
              Of all members: --ranks chooses of whom lengths and rows are shown, not who waited.
  last        the rank that came last to most of the step's collectives, and to which share of them. Of a rank: to how many it
              came last.
  busy        of a rank: how long at least one of its collectives was running, waiting included.
  change      a step from which on steps are longer or shorter by at least 5 %: ratio of the medians behind and before. Found by
              two cumulated sums of the relative deviation from the first five steps of a kind, less 2.5 %; a step counts as at
              most 10 % off, and 25 % together are a change. At least five steps on either side.
)",
    .takes = kTakesTime | kTakesRanks | kTakesOp,
    .is_wanted = pace_wants,
    .compute = pace,
    .groupings = kPaceGroupings,
    .shown_rows = 60};

}  // namespace jaxprof::study
