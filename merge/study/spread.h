// How much the time of the same call varies: one row per operation, type, algorithm, protocol, ranks and size. From GPU
// times, raw, net of waiting and the wait side by side, with nccl-tests' bandwidths. Without GPU times it is the host's
// time, and says so; waiting and bandwidth are then empty, never computed from host times.
#pragma once

#include "merge/study/study.h"

namespace jaxprof::study {

bool spread_wants(std::string_view path);
// kInputUnreadable, kUsage: of --ref.
Result<Table> spread_of(const StudyRun& run, const StudyOptions& options);
// The same without --ref.
Table spread(const runfile::RunTables& run, const StudyOptions& options);

inline constexpr std::size_t kSpreadRows = 40;  // in formats for people
inline constexpr By kSpreadGroupings[] = {By::kRun, By::kRank, By::kNode, By::kComm};

inline constexpr Study kSpread = {
    .name = "spread",
    .answers = "how much does the same call's time vary, by operation, type, algorithm, protocol, ranks and size?",
    .definitions =
        R"(spread: one row per operation, data type, algorithm, protocol, ranks and size (exact sizes, never bins), and with --by per
rank, node or communicator. "missing" is what the source did not say. Calls of the steady steps, or of those that --steps,
--segment and --window leave; --all-steps takes every call of the run. A call belongs to the step in which its host call began.

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
              Three samples, each with the same figures (net_…, wait_…):
              raw     the call's time, waiting for the other ranks included.
              net     what of it lies behind the last arrival: max(0, own end - last start of the instance).
              wait    last start of the instance - own start.
              net and wait are of instances of which all members have GPU times, and not of members on several nodes whose
              clocks have no known bound; on several nodes they are as good as the clocks (jaxprof-study clock).
  p01 … p99   percentiles by linear interpolation (type 7, numpy's default). p05 and p95 need n >= 20, p01 and p99
              n >= 100; else they are missing.
  mean, std   arithmetic mean; sample standard deviation (n - 1).
  iqr         p75 - p25.           cv     std / mean.              qcd    (p75 - p25) / (p75 + p25).
  rcv         1.4826 x median of |value - p50| / p50.              tail   p99 / p50.     span   (p95 - p05) / p50.
  sarle       bimodality coefficient (n >= 50); is_bimodal where it exceeds 5/9, that of a uniform distribution.
  is_stable   cv of net (of raw where there is no net) below 2 %.
  early_exits calls that ended before the last member arrived: a Broadcast's root, small operations. Their net is 0.
  drift       by how much the median of a step's raw times grows from the first step to the last, relative to the median:
              Theil and Sen's slope over steps, of at least 8.
  size        nccl-tests' size S: count x type size for AllReduce, Broadcast, Reduce, Send, Recv; that times the number of
              ranks for AllGather, ReduceScatter, AllToAll, Gather, Scatter.
  grouped     1: in one kernel with other calls (ncclGroupStart). Such calls are rows of their own: their time is that of all
              of the kernel's calls, and their bandwidth is of the bytes of all of them.
  algbw       S / t in GB/s (10^9 bytes a second). busbw: algbw x f, f = 2(n-1)/n for AllReduce; (n-1)/n for AllGather,
              ReduceScatter, AllToAll, Gather, Scatter; 1 for Broadcast, Reduce; n = ranks (nccl-tests, doc/PERFORMANCE.md).
              t is the median over instances of which all members have GPU times; so this is the bandwidth of the median time,
              not the median of bandwidths. Empty without GPU times: host times say nothing of it. Of four t the first is the
              default:
              fast  the shortest GPU time among the members: the last to arrive waits for nobody, and no clock is needed.
              xfer  last end - last start.       wall  last end - first start.
              mean  mean GPU time of the members, waits included: what NCCL Inspector's exporter averages.
              clock_check is |fast - xfer| / fast: where it is large, do not trust the clocks, or the operation lets members
              leave early.
              Send and Recv have no bandwidth: what a single one took is not known, since it mostly shares its kernel with
              others, and waits there for its peer.
  ref, / ref  with --ref FILE, an output of nccl-tests: its out-of-place time of the same type, size and number of ranks, where
              its busbw is algbw x f of the operation; and fast p50 over it.

  --histogram counts calls by time instead, raw and net over the same bins of equal width: 100 for programs, 20 for people.
)",
    .takes = kTakesOp | kTakesRanks | kTakesTime | kTakesReference | kTakesHistogram,
    .is_wanted = spread_wants,
    .stream = spread_of,
    .groupings = kSpreadGroupings,
    .shown_rows = kSpreadRows};

}  // namespace jaxprof::study
