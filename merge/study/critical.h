// Which ranks and what kind of work the steps were waiting for.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool critical_wants(std::string_view path);
Result<Table> critical(const StudyRun& run, const StudyOptions& options);

// kMember: every piece of the path.
inline constexpr By kCriticalGroupings[] = {By::kRank, By::kStep, By::kMember};

inline constexpr Study kCritical = {
    .name = "critical",
    .answers = "which rank, and which kind of its work, is each step waiting for?",
    .definitions =
        R"(critical: one row a rank that is on the critical path; --by step: one a step; --by member: one a piece of the path.

  The path of a step goes back from its last end of a collective. Of a collective, the time from the last arrival on is
  transfer, and counts for its last member; before that, what the last member did since its own previous synchronizing
  collective ended is its own time; then the path goes on with that collective's last member. It ends where the path of the step
  before ended, or, if that is not in scope, where the first process began the step. The pieces follow each other without a gap:
  shares of ranks and kinds add up to the step, exactly.

  time        length of the path that the row stands for.       share   of the path of all steps.
  transfer    from the last arrival on. A Broadcast, Reduce, Gather or Scatter makes nobody wait: its transfer is the member's own.
  compute     of the own time: a compute kernel ran on the member's GPU.
  copy        no such kernel ran, but a copy or set of memory.
  comm        neither, but a communication that is not on the path (another communicator, Send and Recv).
  host        idle, and the CUDA call that launched the next work began after the GPU had run dry.
  other       idle otherwise: launching takes its time, or the work waited for an event or another stream.
  unknown     idle, and the call that launched the next work is not known; all own time where no GPU work was recorded.
  tied        the clocks (3 sigma), or equal times on one node, do not tell whether this member was the last one: the time might
              as well be another's.
)",
    .takes = kTakesTime | kTakesOp,
    .is_wanted = critical_wants,
    .stream = critical,
    .groupings = kCriticalGroupings,
    .shown_rows = 40};

}  // namespace jaxprof::study
