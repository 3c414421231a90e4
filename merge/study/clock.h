// How well times of different nodes compare: one row a node, and what is odd about clocks and links.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool clock_wants(std::string_view path);
// Of the whole run, whatever the options.
Table clock(const runfile::RunTables& run, const StudyOptions& options = {});

inline constexpr Study kClock = {
    "clock",
    "how well do times of different nodes compare, and by what were the clocks aligned?",
    R"(clock: one row a node. All times of the run file lie on one axis: the raw clock (CLOCK_MONOTONIC_RAW) of the reference
node, set to its wall clock at the start and running at that clock's mean rate. Every other node's raw clock is related to
it by UDP probes, four stamps each, all through the run.

  method        reference; udp_kernel_stamps: probes, stamped where the kernel sends and receives; udp_user_stamps: probes,
                stamped by the observers, which waits for processors make ten to a hundred times worse; wall_clock: no
                probes, the node's wall clock as it is; wall_clock_unknown: the same, and its kernel or the reference's does
                not take it for synchronized, or nobody asked it.
  wall clock    by how much the node's wall clock is ahead of the axis in the middle of the run; empty where the wall clock
                is the axis.
  drift         by how much its raw clock is slower than the axis, parts per million.
  sigma         likely error (one standard deviation), the largest during the run.
  bound         error at most, either way, the largest during the run, the time after the last burst
                included. It holds as long as no packet arrived before it was
                sent and no clock changed its rate by more than the drift bound (wide) from one burst to the next. It is
                about half of a round trip, and usually far larger than the error. With wall clocks it is the sum of what
                both kernels say of theirs.
  bursts        bursts of probes with the node at either end that were used.
  lost          requests without an answer, of all that were sent.
  floor rtt     the least round trip of the node's links, less the time at the other end.
  residual      by how much the node's worst link disagrees with all others.

  Between two nodes sigmas add up as the root of the sum of squares, and bounds add up. /collectives has both for each
  instance: a spread of arrivals below three sigma names nobody (unresolved), one above the bound is certain.

  flagged links  the two ways of a link take different times, by twice the residual: found by the disagreement with the
                other links, and given little weight. A difference that all links of a node share cannot be found; the bound
                covers it.
  contradiction  the probes of a node cannot all be true: a clock that jumped, or stamps that are wrong.
  violations    collectives that ended on one node before they began on another, beyond what the clocks' bounds and the
                GPU clocks' residuals allow. They check the clocks and never move them.

Errors of the GPUs' own clocks come on top (gpu_clock_residual_ns of /job/processes).
)",
    0,
    clock_wants,
    clock};

}  // namespace jaxprof::study
