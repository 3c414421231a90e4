#include "merge/assembly/gpu_findings.h"

#include <algorithm>
#include <string>
#include <vector>

#include "agent/contract/session_page.h"
#include "merge/runfile/word_list.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;

// Rows of all kinds that carry `flag`.
std::uint64_t count_flag(const match::GpuWork& work, std::uint16_t flag) {
  const auto in = [flag](const std::vector<std::uint16_t>& flags) {
    return static_cast<std::uint64_t>(
        std::count_if(flags.begin(), flags.end(), [flag](std::uint16_t f) { return (f & flag) != 0; }));
  };
  return in(work.kernels.flags) + in(work.memops.flags) + in(work.api.flags) + in(work.overhead.flags) +
         in(work.graphs.flags) + in(work.syncs.flags);
}

}  // namespace

std::string not_asked_words(const spool::SpoolIdentity& id) {
  const std::string kinds = id.text(spool::IdentityKey::kTrace);
  if (!kinds.empty() && !runfile::has_word(kinds, "cuda")) return "-t " + kinds;
  const bool is_off = id.number(spool::IdentityKey::kCupti) == static_cast<std::int64_t>(CuptiPolicy::kOff);
  return is_off ? "--cupti off" : "";
}

void diagnose_gpu(const RunSources& sources, std::size_t index, const match::GpuWork& work,
                  const clock::GpuClockModel& clock, bool is_clock_read, Diagnostics* diagnostics) {
  const SourceProcess& process = sources.processes[index];
  const Place place{process.rank, static_cast<std::uint32_t>(index), process.node};
  const std::string told_by = who(process.rank, process.trace.identity().text(spool::IdentityKey::kHost)) + ": ";
  const auto add = [&](Severity severity, const char* code, std::uint64_t count, const std::string& text) {
    if (count > 0) diagnostics->add(severity, code, place, count, told_by + text);
  };
  if (const auto& collector = process.trace.gpu().collector;
      collector && static_cast<GpuMode>(collector->mode) == GpuMode::kUnavailable) {
    add(Severity::kWarning, "gpu.unavailable", 1,
        (work.record_count == 0 ? "its GPUs were not recorded: " : "its GPUs were recorded in part: ") +
            std::string(process.trace.text(collector->note)));
  } else if (const std::string option = not_asked_words(process.trace.identity()); !option.empty()) {
    add(Severity::kInfo, "gpu.not-asked", 1, "its GPUs were not recorded, by " + option);
  }
  add(Severity::kError, "gpu.damaged-block", work.damaged_blocks,
      counted(work.damaged_blocks, "block of GPU records|blocks of GPU records") + " could not be decoded to the end");
  if (work.record_count == 0) return;
  if (!is_clock_read) {
    add(Severity::kWarning, "gpu.clock-fallback", 1,
        "CUPTI's clock was never read (the process may have been killed early): it is taken for CLOCK_REALTIME");
  }
  add(Severity::kWarning, "gpu.clock-step", clock.steps(),
      "the wall clock was set " + counted(clock.steps(), "time") + " while GPUs were recorded, and CUPTI's with it");
  const auto records = [](std::uint64_t count, const char* what) {
    return counted(count, "GPU record") + (count == 1 ? " has " : " have ") + what;
  };
  const std::uint64_t no_time = count_flag(work, runfile::kWorkNoTime);
  add(Severity::kWarning, "gpu.no-time", no_time,
      records(no_time, "no time: CUPTI had no buffer on the device, or the flush was forced"));
  const std::uint64_t end_first = count_flag(work, runfile::kWorkEndFirst);
  add(Severity::kWarning, "gpu.end-before-start", end_first, records(end_first, "an end before its start"));
  const std::uint64_t early = count_flag(work, runfile::kWorkBeforeLaunch);
  add(Severity::kInfo, "gpu.before-launch", early, records(early, "a start before the call that launched it"));
  const std::uint64_t outside = count_flag(work, runfile::kWorkOutside);
  add(Severity::kInfo, "gpu.outside-window", outside, records(outside, "a time outside of every window"));
  const std::uint64_t ambiguous = count_flag(work, runfile::kWorkAmbiguousTime);
  add(Severity::kWarning, "gpu.ambiguous-time", ambiguous,
      records(ambiguous, "a time that was there twice, because the wall clock was set back"));
}

void diagnose_graph_kernels(const SourceProcess& process, std::size_t index, const match::GpuWork& work,
                            const match::NcclJoin& join, const runfile::StringTable& strings,
                            Diagnostics* diagnostics) {
  const spool::SpoolIdentity& id = process.trace.identity();
  const std::string kinds = id.text(spool::IdentityKey::kTrace);
  if (!kinds.empty() && !runfile::has_word(kinds, "nccl")) return;  // nobody asked for calls
  std::vector<bool> is_joined(work.kernels.flags.size());
  for (const match::NcclWork& pair : join.work) {
    if (!pair.work.is_memop) is_joined[pair.work.row] = true;
  }
  std::uint64_t count = 0;
  for (std::size_t row = 0; row < is_joined.size(); ++row) {
    const bool is_of_window = (work.kernels.flags[row] & runfile::kWorkBeforeWindow) == 0;
    const bool is_in_graph = work.kernels.graph_node[row] != runfile::kNoRow;
    if (is_joined[row] || !is_of_window || !is_in_graph) continue;
    if (match::is_nccl_kernel(strings.text(work.kernels.name[row]))) ++count;
  }
  if (count == 0) return;
  constexpr std::uint32_t kToldFrom = 5;  // the first version with KernelLaunch
  std::uint32_t version = 0;
  for (const rundir::Communicator& comm : process.trace.communicators()) version = std::max(version, comm.api);
  const std::string seen = version == 0 ? "had none" : "had version " + std::to_string(version);
  const std::string why = version < kToldFrom
                              ? "which call a graph's kernel was captured for is told by NCCL's profiler plugin of "
                                "version 5 (NCCL 2.28) on, and the process " +
                                    seen
                              : "no node of theirs was made while NCCL launched for a recorded call";
  diagnostics->add(Severity::kWarning, "call.graph-unjoined",
                   {process.rank, static_cast<std::uint32_t>(index), process.node}, count,
                   who(process.rank, id.text(spool::IdentityKey::kHost)) + ": " +
                       counted(count, "kernel of NCCL's|kernels of NCCL's") + " in CUDA graphs " +
                       (count == 1 ? "is" : "are") + " of no known call: " + why);
}

}  // namespace jaxprof::assembly
