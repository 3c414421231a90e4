// What went over the network: one row a port that was read, and what in it is odd.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool network_wants(std::string_view path);
// Of the whole run, whatever the options.
Table network(const runfile::RunTables& run, const StudyOptions& options = {});

inline constexpr Study kNetwork = {
    "network",
    "what went over each network port, how fast, and is one of them idle, slow or losing packets?",
    R"(network: one row a port of a network card, or network interface, that an observer read. Values are those of the driver's
counters, over the time from the first reading to the last; empty where the driver has no such counter.

  out, in       bytes that the port sent and received, all together.
  send, read, write
                bytes by sends, by RDMA reads of others' memory, and by RDMA writes into it, of those that this side began,
                where the driver tells them apart (EFA). Some libraries use one and some another: a 0 in one of them says
                nothing. Wide: what the other side began (receive, read_served, write_taken).
  out mean …    bytes a second: what was counted, divided by the time that passed between the readings, not by the planned
                one. peak: of the fastest interval between two readings. p99: of the intervals, from 100 of them on; empty
                where two counters add up.
  of line       the peak of the busier direction as a share of the link's rate.
  retrans       packets and requests that were sent again or found to be missing, all such counters of the driver together:
                one lost packet may be counted by several of them.
  congestion    congestion marks and notifications (CNP, ECN); on EFA, connections with impaired remote sides.
  errors        all other counters that tell of errors.

  A counter that went back was reset: the interval is left out, and so is what it counted there. One of fewer than 64 bits
  that went round is counted on. A saturating counter that is at its end stays there, and is never a rate; it is named below.
  Values that were not read, or that the kernel had kept from before, are no readings.

  Findings, in the verdict and below the table:
  RDMA idle     on a node of several, the RDMA ports moved less than 1 % of what its network interfaces moved, and those at
                least 256 MiB: as when NCCL falls back to TCP.
  siblings      a port moved less than half of the median of the other ports of its driver on its node (3 ports or more, the
                median at least 256 MiB).
  errors, retransmits   grew on an RDMA port while it was read; the port with most of them is named.

Counters belong to ports, not to ranks: on a shared node they hold others' traffic as well, which jaxprof-study summary tells.
)",
    0,
    network_wants,
    network};

}  // namespace jaxprof::study
