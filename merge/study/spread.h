// How much the time of the same call varies: one row per operation, type, algorithm, protocol, ranks and size. From GPU
// times, with what of them is waiting for the last to arrive, and nccl-tests' bandwidths. Without GPU times it is the
// host's time, and says so; waiting and bandwidth are then empty, never computed from host times.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool spread_wants(std::string_view path);
Table spread(const runfile::RunTables& run, const StudyOptions& options);

inline constexpr Study kSpread = {
    "spread",
    "how much does the same call's time vary, by operation, type, algorithm, protocol, ranks and size?",
    R"(spread: one row per operation, data type, algorithm, protocol, ranks and size. "missing" is what the source did not say.

  count       calls of that kind. A call is one rank's; the Sends and Receives that NCCL makes of an AllToAll, Gather or
              Scatter are part of their call and not counted. Each replay of a CUDA graph is a call, and where replays
              were seen, the call that was captured is not: nothing ran then.
  time        which time the row shows.
              host: end_api_ns - start_ns, the host's time in the call. It is enqueue, not transfer: the call returns as
                    soon as the work is queued on the stream.
              gpu:  gpu_dur_ns, from the start of the call's first GPU kernel or copy to the end of its last one. It
                    includes waiting for the other ranks.
  source      where that time comes from. cupti: GPU times by CUPTI. enqueue: the host's, of a call without any.
  n           calls with that time.
  p01 … p99   percentiles by linear interpolation (type 7, numpy's default). p05 and p95 need n >= 20, p01 and p99
              n >= 100; else they are missing.
  mean, std   arithmetic mean; sample standard deviation (n - 1).
  wait        median, over all members, of how long one waits for the last to arrive: last start of the instance - own start,
              on the run's time axis. Of instances of which all members have a GPU time, and not of members on several nodes
              whose clocks have no known bound.
  xfer        median of what follows: last end - last start of an instance, of the same instances. It depends on the clocks,
              t below does not; if they are far apart, do not trust the clocks.
  size        nccl-tests' size S: count x type size for AllReduce, Broadcast, Reduce, Send, Recv; that times the number of
              ranks for AllGather, ReduceScatter, AllToAll, Gather, Scatter.
  algbw       S / t in GB/s (10^9 bytes a second). Of each instance the shortest GPU time among its members: the last to
              arrive waits for nobody, and no clock is needed. t is the median of these times over the instances of which
              all members have one and none shared its kernel with other calls; so this is the bandwidth of the median
              time, not the median of bandwidths. Empty without GPU times: host times say nothing of it.
  busbw       algbw x f, f = 2(n-1)/n for AllReduce; (n-1)/n for AllGather, ReduceScatter, AllToAll, Gather, Scatter; 1 for
              Broadcast, Reduce; n = ranks. Send and Recv have neither: what a single one took is not known, since it
              mostly shares its kernel with others, and waits there for its peer.
)",
    kTakesOp | kTakesRanks,
    spread_wants,
    spread};

}  // namespace jaxprof::study
