#include "merge/assembly/call_findings.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "merge/assembly/run_time.h"
#include "merge/runfile/rank_ranges.h"

namespace jaxprof::assembly {
namespace {

using match::CallFinding;
using match::Deviation;
using runfile::Severity;

// Of one code; the rest share a row, so that a run of thousands of ranks does not drown in them.
constexpr std::size_t kMostRows = 16;

// A process that is recorded later or shorter than others may be so by its window; what it lacks in the middle may not.
Severity severity_of(Deviation what) {
  return what == Deviation::kLateStart || what == Deviation::kEarlyEnd ? Severity::kInfo : Severity::kWarning;
}

std::string_view code_of(Deviation what) {
  switch (what) {
    case Deviation::kMissing:
      return "collective.missing-call";
    case Deviation::kSwapped:
      return "collective.swapped-order";
    case Deviation::kLateStart:
      return "collective.late-start";
    case Deviation::kEarlyEnd:
      return "collective.early-end";
  }
  return {};
}

// "AllReduce 17 of communicator 0 at 20:12:03.123Z, 41.2 s after the run began"
std::string call_words(const CallFinding& finding, const RunTime& time) {
  return std::string(runfile::word(finding.coll)) + " " + std::to_string(finding.seq) + " of communicator " +
         std::to_string(finding.comm) + " at " + time.words(finding.time_ns);
}

// ", on 3 communicators"; nothing for one.
std::string comms_words(const CallFinding& finding) {
  return finding.comm_count > 1 ? ", on " + std::to_string(finding.comm_count) + " communicators" : "";
}

std::string words_of(const CallFinding& finding, const std::string& told_of, std::uint64_t dropped,
                     const RunTime& time) {
  switch (finding.what) {
    case Deviation::kMissing:
      return told_of + ": " +
             counted(finding.count, "collective call of other members is|collective calls of other members are") +
             " missing between its own" + comms_words(finding) + ": first " + call_words(finding, time) +
             (dropped > 0 ? "; it lost " + counted(dropped, "event") + ", of which these may be"
                          : "; it did not make them, or their records were lost");
    case Deviation::kSwapped:
      return told_of + " made collective calls in another order than " +
             (finding.is_even ? "other members" : "most members") + ", " + counted(finding.count, "time") +
             comms_words(finding) + ", or left one out: first " + call_words(finding, time) +
             (finding.is_early ? ", too early" : ", too late") +
             (finding.is_even ? "; as many members made them in its order as in the other" : "");
    case Deviation::kLateStart:
      return told_of + ": its recorded collective calls begin " + counted(finding.count, "call") +
             " after those of other members" + comms_words(finding) + ", with " + call_words(finding, time);
    case Deviation::kEarlyEnd:
      return told_of + ": its recorded collective calls end " + counted(finding.count, "call") +
             " before those of other members" + comms_words(finding) + ", with " + call_words(finding, time);
  }
  return {};
}

void diagnose_deviation(const std::vector<CallFinding>& findings, Deviation what, const RunSources& sources,
                        const runfile::RunTables& run, const RunTime& time, Diagnostics* diagnostics) {
  std::size_t rows = 0;
  std::vector<std::int32_t> others;
  std::uint64_t others_count = 0;
  for (const CallFinding& finding : findings) {
    if (finding.what != what) continue;
    const SourceProcess& process = sources.processes[finding.process];
    if (++rows > kMostRows) {
      others.push_back(process.rank);
      others_count += finding.count;
      continue;
    }
    const std::string told_of = who(process.rank, process.trace.identity().text(spool::IdentityKey::kHost));
    diagnostics->add(severity_of(what), code_of(what), {process.rank, finding.process, process.node}, finding.count,
                     words_of(finding, told_of, run.processes.n_dropped[finding.process], time));
  }
  if (others.empty()) return;
  diagnostics->add(severity_of(what), code_of(what), {}, others_count,
                   "the same of " + runfile::rank_ranges(others) + ": " + counted(others_count, "call"));
}

}  // namespace

void diagnose_call_order(const std::vector<CallFinding>& findings, const RunSources& sources,
                         const runfile::RunTables& run, Diagnostics* diagnostics) {
  const RunTime time(sources);
  for (const Deviation what : {Deviation::kMissing, Deviation::kSwapped, Deviation::kLateStart, Deviation::kEarlyEnd}) {
    diagnose_deviation(findings, what, sources, run, time, diagnostics);
  }
}

void TransferCounts::take(const runfile::TransferTable& transfers) {
  for (const std::uint16_t flags : transfers.flags) {
    if ((flags & runfile::kInstancePartial) != 0) ++partial;
    if ((flags & runfile::kInstanceMismatch) != 0) ++mismatch;
  }
}

void diagnose_transfers(const match::UnmatchedTransfers& unmatched, const TransferCounts& counts,
                        Diagnostics* diagnostics) {
  const auto add = [diagnostics](const char* code, std::uint64_t count, const char* noun, const char* text,
                                 Severity severity = Severity::kWarning) {
    if (count > 0) diagnostics->add(severity, code, {}, count, counted(count, noun) + text);
  };
  add("transfer.unnumbered", unmatched.unnumbered,
      "Send or Recv has no number and is|Sends and Recvs have no number and are",
      " not matched: NCCL's NVTX ranges number them (NCCL 2.25 on), and not where a process holds several members of "
      "the communicator",
      Severity::kInfo);
  add("transfer.repeated", unmatched.repeated, "Send or Recv repeats a number|Sends and Recvs repeat a number",
      " of its own member and cannot be matched");
  add("transfer.replay", unmatched.replays,
      "replay of a captured Send or Recv is|replays of captured Sends and Recvs are",
      " not matched: their process lost GPU records, or its window opened by time, so that which replay each was is "
      "not "
      "known");
  add("transfer.partial", counts.partial, "transfer lacks|transfers lack", " a side, the Send or the Recv");
  add("transfer.mismatch", counts.mismatch, "transfer has|transfers have", " sides that disagree on type or size");
}

}  // namespace jaxprof::assembly
