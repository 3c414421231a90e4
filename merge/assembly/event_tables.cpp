#include "merge/assembly/event_tables.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "merge/assembly/call_store.h"
#include "merge/assembly/comm_tables.h"
#include "merge/assembly/match_calls.h"
#include "merge/assembly/part_placer.h"
#include "merge/assembly/process_part.h"
#include "merge/assembly/window_findings.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

class Events {
 public:
  Events(const RunSources& sources, const Room& room, std::int64_t epoch_ns, PartSource* parts, EventSink* sink,
         runfile::RunTables* run)
      : sources_(sources),
        room_(room),
        epoch_ns_(epoch_ns),
        parts_(*parts),
        sink_(*sink),
        run_(*run),
        placer_(run, epoch_ns),
        calls_(room.scratch_folder, room.budget_bytes / 4),
        findings_(sources.processes.size()) {
    progress_.all_processes = sources.processes.size();
    for (const SourceProcess& process : sources.processes) progress_.all_bytes += process.trace.health().file_bytes;
  }

  Status fill(Diagnostics* diagnostics) {
    const std::size_t count = sources_.processes.size();
    std::size_t numbered = 0;
    for (std::size_t process = 0; process < count; ++process) {
      for (; numbered < std::min(count, process + parts_.ahead() + 1); ++numbered) {
        if (auto done = number(static_cast<std::uint32_t>(numbered)); !done) return done;
      }
      if (auto done = take_rows(process); !done) return done;
    }
    for (Diagnostics& findings : findings_) diagnostics->take(std::move(findings));
    placer_.fill_launch_configs();
    comms_.fill(placer_.devices(), &run_, diagnostics);
    steps_.finish(&run_.attributes, diagnostics);
    diagnose_windows(sources_, segments_, run_.attributes.clock_bound_ns, diagnostics);
    run_.attributes.window = windows_of(sources_);
    return match_calls(sources_, &calls_, comms_, has_lost_gpu_work_, epoch_ns_,
                       {room_.scratch_folder, room_.budget_bytes / 2}, &sink_, &run_, diagnostics);
  }

 private:
  Status number(std::uint32_t process) {
    auto head = parts_.next_head();
    if (!head) return tl::unexpected(std::move(head.error()));
    run_.processes.n_events[process] = head->n_events;
    run_.processes.gpu_clock_residual_ns[process] = head->gpu_clock_residual_ns;
    comms_.add(process, head->comms);
    steps_.add(head->steps);
    has_lost_gpu_work_.push_back(head->has_lost_gpu_work);
    Placement placement = placer_.number(process, sources_.processes[process].node, *head);
    segments_.push_back(std::move(head->segments));
    findings_[process] = std::move(head->findings);
    return parts_.place(std::move(placement));
  }

  Status take_rows(std::size_t process) {
    auto part = parts_.next_rows();
    if (!part) return tl::unexpected(std::move(part.error()));
    if (part->early > 0) diagnose_early(process, part->early);
    note_progress(process);
    if (auto put = calls_.put(std::move(part->calls)); !put) return put;
    if (const auto* encoded = std::get_if<runfile::EncodedPart>(&part->rows)) return sink_.append_encoded(*encoded);
    return sink_.append(std::get<runfile::EventTables>(part->rows));
  }

  void note_progress(std::size_t process) {
    ++progress_.processes;
    progress_.bytes += sources_.processes[process].trace.health().file_bytes;
    progress_.records += run_.processes.n_events[process];
    if (room_.on_progress) room_.on_progress(progress_);
  }

  void diagnose_early(std::size_t process, std::uint64_t count) {
    const SourceProcess& source = sources_.processes[process];
    findings_[process].add(runfile::Severity::kWarning, "event.before-run",
                           {source.rank, static_cast<std::uint32_t>(process), source.node}, count,
                           who(source.rank, source.trace.identity().text(spool::IdentityKey::kHost)) + ": " +
                               counted(count, "event has|events have") +
                               " a time before anything of the run was recorded, and " +
                               (count == 1 ? "stands" : "stand") + " at its begin");
  }

  const RunSources& sources_;
  const Room& room_;
  const std::int64_t epoch_ns_;
  PartSource& parts_;
  EventSink& sink_;
  runfile::RunTables& run_;
  PartPlacer placer_;
  CallStore calls_;
  CommTables comms_;
  StepSummary steps_;
  std::vector<std::vector<Segment>> segments_;  // by process
  std::vector<bool> has_lost_gpu_work_;         // by process
  std::vector<Diagnostics> findings_;           // by process
  Progress progress_;
};

}  // namespace

Status fill_event_tables(const RunSources& sources, const Room& room, std::int64_t epoch_ns, PartSource* parts,
                         EventSink* sink, runfile::RunTables* run, Diagnostics* diagnostics) {
  return Events(sources, room, epoch_ns, parts, sink, run).fill(diagnostics);
}

}  // namespace jaxprof::assembly
