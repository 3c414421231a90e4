#include "merge/assembly/matching_findings.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace jaxprof::assembly {

using runfile::Severity;

void MatchingCounts::add(const runfile::NcclTable& calls) {
  several_gpus_ +=
      static_cast<std::uint64_t>(std::count_if(calls.flags.begin(), calls.flags.end(), [](std::uint16_t flags) {
        return (flags & runfile::kCallOnSeveralGpus) != 0;
      }));
}

void MatchingCounts::add(const runfile::CollectiveTable& instances) {
  for (std::size_t row = 0; row < instances.flags.size(); ++row) {
    const std::uint16_t flags = instances.flags[row];
    partial_ += (flags & runfile::kInstancePartial) != 0 ? 1U : 0U;
    mismatch_ += (flags & runfile::kInstanceMismatch) != 0 ? 1U : 0U;
    overfull_ += instances.n_seen[row] > instances.n_ranks[row] ? 1U : 0U;
    if ((flags & runfile::kInstanceUnresolved) == 0) continue;
    ++(std::isnan(instances.clock_bound_ns[row]) ? unbounded_ : unresolved_);
  }
}

void MatchingCounts::diagnose(const match::UnmatchedCalls& unmatched, Diagnostics* diagnostics) const {
  const auto add = [diagnostics](const char* code, std::uint64_t count, const char* noun, const char* text,
                                 Severity severity = Severity::kWarning) {
    if (count > 0) diagnostics->add(severity, code, {}, count, counted(count, noun) + text);
  };
  add("call.without-communicator", unmatched.without_communicator, "NCCL call names|NCCL calls name",
      " no communicator (NCCL before 2.25 without its profiler plugin, or a lost registration) and cannot be matched");
  add("call.without-sequence", unmatched.without_sequence,
      "NCCL call has no number and is|NCCL calls have no number and are",
      " not matched: the profiler plugin numbered others of the kind, or the process holds several members of the "
      "communicator and nothing tells which one called");
  add("call.repeated", unmatched.repeated,
      "NCCL call repeats a number of its own member|NCCL calls repeat a number of their own member",
      " (replayed CUDA graphs) and cannot be matched");
  add("call.replay-unnumbered", unmatched.unnumbered_replays,
      "replay of a captured NCCL call is|replays of captured NCCL calls are",
      " not matched: windows that open by time open in different replays on different ranks");
  add("call.replay-after-loss", unmatched.replays_after_losses,
      "replay of a captured NCCL call is|replays of captured NCCL calls are",
      " not matched: their process lost GPU records, so that which replay each was is not known");
  add("call.several-gpus", several_gpus_, "NCCL call has|NCCL calls have",
      " no GPU times: their groups were launched for several GPUs at once, and nothing tells which kernel is whose "
      "(the profiler plugin of NCCL 2.28 on does)");
  add("collective.partial", partial_, "collective lacks|collectives lack", " members");
  add("collective.mismatch", mismatch_, "collective has|collectives have",
      " members that disagree on type, size or reduction");
  add("collective.overfull", overfull_, "collective has|collectives have",
      " more members than the communicator has ranks: a rank is counted twice or its size is wrong");
  add("collective.unresolved", unbounded_, "collective has|collectives have",
      " members on several nodes, whose clocks have no known bound: which one came last is not known", Severity::kInfo);
  add("collective.unresolved", unresolved_, "collective has|collectives have",
      " members on several nodes that came within what the nodes' clocks can tell apart: which one was last is not "
      "known",
      Severity::kInfo);
}

}  // namespace jaxprof::assembly
