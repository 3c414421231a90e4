// What would it bring to mend a rank, a node or the network? Computed by replaying the run's collectives with other
// times.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool whatif_wants(std::string_view path);
Table whatif(const runfile::RunTables& run, const StudyOptions& options);

inline constexpr double kStragglingFrom = 1.1;     // S of a job that counts as straggling (Lin et al.)
inline constexpr double kFidelity = 0.02;          // the model has to reproduce the measured time so closely
inline constexpr std::size_t kMostCandidates = 8;  // ranks and nodes that are tried, those with the largest excess

inline constexpr Study kWhatif = {
    .name = "whatif",
    .answers = "how much faster would the job be without its slow ranks, nodes or transfers?",
    .definitions =
        R"(whatif: one row a scenario. The run's collectives are replayed with other times: a member arrives its own time (from
the end of its GPU's previous synchronizing operation) after that operation ends; an operation moves data from its last
arrival on; it ends on each member a transfer time later. Broadcast, Reduce, Gather and Scatter make nobody wait. The model is
that of Lin et al., "Understanding Stragglers in Large Model Training Using What-if Analysis" (OSDI 2025), on collectives.

  time        sum over steps, each from the last end of the step before to its own last end; without steps from the first
              arrival to the last end. recorded: from the records. replayed: the model with the recorded times. If the two
              differ by more than 2 %, nothing is predicted.
  alike       own times are the mean over the members of the instance, which do the same work at the same place of the step.
  transfers   at their median over instances of one operation, size and number of members.
  S           replayed / time, of "all alike, transfers too": 1.1 and more is straggling, as in that paper. Of "only rank r
              differs": time / that of all alike, how much that rank alone costs.
  gain        1 - time / replayed: what the scenario would save.
  share       gain of the slowest 3 % of the ranks (at least one) over the gain of all: M_W of that paper. Near 1: a few
              ranks are to blame; near 0: the lateness is everybody's.
  Ranks and nodes: the 8 with the most own time above the other members', summed.

  What overlaps on several streams of a GPU is replayed as if only the operation that ended last before mattered; an
  approximation, of which the comparison of recorded and replayed time is the check.
)",
    .takes = kTakesTime | kTakesOp,
    .is_wanted = whatif_wants,
    .compute = whatif};

}  // namespace jaxprof::study
