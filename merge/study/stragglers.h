// Who holds the job back, how much, and why: one row a rank, GPU, node, communicator, member or step.
#pragma once

#include <array>

#include "merge/study/study.h"

namespace jaxprof::study {

bool stragglers_want(std::string_view path);
Result<Table> stragglers(const StudyRun& run, const StudyOptions& options);
// The same of a run that is all in memory, with its kernels, copies and launches.
Result<Table> stragglers_in_memory(const runfile::RunTables& run, const StudyOptions& options);

inline constexpr std::array kStragglerGroupings = {By::kRank, By::kMember, By::kGpu, By::kNode, By::kComm, By::kStep};

inline constexpr Study kStragglers = {
    "stragglers",
    "who holds the job back, how much, how often, and why?",
    R"(stragglers: one row a rank (--by rank), those with most fault first; --by gpu, node, comm, member or step. Instances,
arrivals, self-lateness and what counts as resolved and certain are those of jaxprof-study lateness --explain. Counted are
resolved instances of AllReduce, AllGather, ReduceScatter, AllToAll and Barrier; of a Broadcast, Reduce, Gather or Scatter
some members leave early and wait for nobody, and of an unresolved one nobody knows who waited for whom. Steps that are
warm-up are left out, as everywhere.

  wait        how long its members waited for the last arrival.
  blame       arrivals s(1) <= … <= s(n) of an instance: between s(k) and s(k+1) k members wait and n - k are absent; each
              absent one gets k (s(k+1) - s(k)) / (n - k), the remainder of the division the last. Blame of all = wait of
              all, to the nanosecond. last_only_ns gives all to the last one instead, as TraceLens does.
  fault       blame followed back: what a member's own time explains (q, against the median of the members) stays with it;
              the rest goes to what delayed the operation that it came from, on whatever communicator: who was at fault there,
              and its transfer as far as it took longer than the median of its kind, together with what that operation's
              members had brought along. Of more than 8 origins the largest 8 count; an operation of all GPUs passes nothing
              on, as it delays all alike. Fault of all + slow transfers = blame of all.
  share       of all fault and slow transfers; expected 1/n.
  impact      fault / (n T): share of all GPU time that others spend waiting for it. n GPUs, T the length of the steps (the
              median process's; without steps from the first arrival to the last end).
  last        share of its instances in which it came last (of equal ones the last member).
  most        in how many steps it had most fault of all; run: the longest run of such steps (persistence).
  p           sign test: chance that its own time exceeds its peers' in as many steps, if either were as likely. From 7
              steps on.
  late p50 …  L = own arrival - first arrival; p95 from 20 values on.
  score       100 (share n - 1) / (n - 1), at least 0.
  cause       of q = own time before its operations - median of its peers in that step (those with as many operations),
              from C compute: union of kernels that are no communication; H host: idle before work that was launched only
              after the GPU had nothing left to do (without recorded launches, idle as far as the host's calls were late);
              M copy: copies and sets outside of kernels; R: the rest. C + H + M + R = q. A cause is named if it covers
              80 % of q, else "unattributed" and the columns …_excess_ns (--wide) say how it splits.
  level       gpu: kernels of one are slow, or one GPU of a process with several; rank: a process; node: 75 % of its GPUs
              exceed the others' median by 3 MAD, and differ less from each other than from the others; network: transfers
              (E - A) of an instance take more than 1.25 medians of their kind (operation, type, size, members, nodes), and
              more than the median + 3 MAD, while members were apart by less than that excess; nic: as network, and one
              port moved less than 0.8 of its peers' median and counted 3 times their congestion, errors or retransmits.
              Fewer than 3 readings of a port: sampling too coarse. Counters that are read seldom are taken from the reading
              before to the one behind. A port that is slow all the time makes no transfer slower than its kind; then
              counters alone tell, over all steps without slow transfers, and transfers between nodes must take 10 % of the
              time.
  certain     of the instances in which it was last, those whose members were farther apart than clocks can be wrong.

Verdict: somebody holds the job back if impact >= 2 %, it has most fault in more than min(50 %, 3/n) of the steps (fewer than
5 steps: is last in as many of its instances), the sign test has p < 0.01 where it can be made, and more than half of its
fault is certain. Else, steps in which one has 5 % of impact or more are told: who, if it is mostly one; that lateness
moves, if not. Finding: warning from 10 % of impact on, critical from 20 %. With --steps all is about these steps.

--by step: a row a step: who or what held it back from 2 % on. Nobody is named where that is not certain.

Elsewhere: nvidia-resiliency-ext compares kernel times alone (straggler below 0.75); HTA lists the latest starts; TraceLens
takes the one with the lowest total wait, without a clock correction; Nsight Systems' nccl_straggler needs its own tracing.
)",
    kTakesOp | kTakesRanks | kTakesTime,
    stragglers_want,
    nullptr,
    stragglers,
    nullptr,
    kStragglerGroupings,
    20};

}  // namespace jaxprof::study
