// Who comes late to collectives: one row a rank, GPU, node, communicator or member, with how long after the first and
// against the middle, how often last and first, and how much of it is its own doing.
#pragma once

#include <array>

#include "merge/study/study.h"

namespace jaxprof::study {

// Where the last to arrive and the one with the shortest kernel are the same in less than this share of instances, one
// of clocks and matching is not to be trusted.
inline constexpr double kLeastAgreement = 0.8;

bool lateness_wants(std::string_view path);
// Of a run in memory, with the columns of arrivals_want.
Table lateness(const runfile::RunTables& run, const StudyOptions& options);
Result<Table> lateness_of_file(const StudyRun& run, const StudyOptions& options);

inline constexpr std::array kLatenessGroupings = {By::kRank, By::kMember, By::kGpu, By::kNode, By::kComm};

inline constexpr Study kLateness = {
    "lateness",
    "who comes late to collectives, how late, how often, and is it its own doing?",
    R"(lateness: one row a rank (--by rank); --by gpu, node, comm or member (one GPU of one process in one communicator).

An instance is one collective of one communicator, with all its members. Counted are those in the steps asked for, of
which all members were recorded; where there is none, those of which all recorded members are there, and the heading says
so. Sends and Receives are not counted, and captured calls only where no replay was seen.
s is a member's arrival: the start of its GPU kernel. Where no instance has GPU times, it is the host's enqueue, and the
heading says so. F and A are the first and last arrival of an instance, E is its last end.

  instances     in which it was counted.
  late p50 …    L = s - F, after the first; percentiles as numpy's default (type 7), p95 from 20 values on. "≤ x" stands
                where the clocks of the nodes can tell apart only what is more than x = min(3 sigma, bound): half of its
                instances. Machine formats have the number, and x in resolution_ns (0: on one node).
  off p05 …     l = s - median arrival of the instance: signed, and one straggler does not move it.
  own p50 …     self-lateness: q = g - median g of the members, g = s - end of the member's previous synchronizing
                operation on any communicator of its GPU (without GPU times, of its process). Who was made late by waiting
                elsewhere has L, but no q. Compares members that did the same work in between; pipeline stages do not.
  last, first   share of its instances in which it came last and first; of equal ones the last and the first member.
                last_resolved, first_resolved: of its resolved instances only.
  resolved      instances whose first and last are apart by more than 3 sigma of the nodes' clocks; on one node always.
  certain       by more than the clocks can be wrong.
  spread p50 …  A - F of its instances.

  agreement     of the instances with A - F > max(10 µs, 3 sigma) that synchronize (AllReduce, AllGather, ReduceScatter,
                AllToAll), the share in which the member with the shortest kernel is the last one, or came within
                max(10 µs, 3 sigma) of it. That member is known without any clock, since all end at nearly the same time.
                Under 0.8 the clocks or the matching are suspect, and no lateness across nodes is to be trusted.

Elsewhere: TraceLens calls s - F skew without any clock correction; HTA takes the latest start of kernels of one name;
Nsight Systems' nccl_straggler needs its advanced NCCL tracing.
)",
    kTakesOp | kTakesRanks | kTakesTime,
    lateness_wants,
    nullptr,
    lateness_of_file,
    nullptr,
    kLatenessGroupings};

}  // namespace jaxprof::study
