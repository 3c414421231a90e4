#include "merge/assembly/spool_findings.h"

#include <algorithm>
#include <set>
#include <string>
#include <tuple>

#include "agent/contract/session_page.h"
#include "merge/assembly/process_end.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using spool::FooterReason;
using spool::IdentityKey;

// What the wrapper read of a process in the session page when the task ended; null if there is no record.
const PublishedProcess* record_of(const RunSources& sources, const SourceProcess& process) {
  const TaskEnd* end = end_of(sources, process);
  if (end == nullptr) return nullptr;
  const std::string& path = process.trace.path();
  const std::string file = path.substr(path.rfind('/') + 1);
  for (const PublishedProcess& record : end->processes) {
    if (record.spool == file) return &record;
  }
  return nullptr;
}

// Why recording ended before its process did; null if it did not.
const char* stop_words(const rundir::SpoolTrace& trace) {
  if (!trace.footer()) return nullptr;
  switch (static_cast<FooterReason>(trace.footer()->record.reason)) {
    case FooterReason::kDeadline:
      return "the job's time limit was near (--margin)";
    case FooterReason::kSpoolLimit:
      return "its task's spools had reached --spool-limit";
    case FooterReason::kDiskReserve:
      return "the disk of its spools was nearly full";
    default:  // it ended, or its spool could not be written
      return nullptr;
  }
}

bool has_footer_of(const rundir::SpoolTrace& trace, FooterReason reason) {
  return trace.footer() && static_cast<FooterReason>(trace.footer()->record.reason) == reason;
}

class SpoolFindings {
 public:
  SpoolFindings(const RunSources& sources, std::size_t index, const RunTime& time, Diagnostics* diagnostics)
      : sources_(sources),
        process_(sources.processes[index]),
        trace_(process_.trace),
        record_(record_of(sources, process_)),
        place_{process_.rank, static_cast<std::uint32_t>(index), process_.node},
        who_and_where_(who(process_.rank, trace_.identity().text(IdentityKey::kHost)) + " (" + trace_.path() + ") "),
        time_(time),
        diagnostics_(diagnostics) {}

  void add_all() {
    add_end();
    add_write_failure();
    add_damage();
    if (process_.clock == nullptr) {
      add(Severity::kError, "clock.no-anchor", 1,
          "has no clock anchor: its events cannot be placed in time and are left out");
    }
    for (const auto& [drop, count] : trace_.drops()) {
      const std::string name = drop_name(static_cast<Drop>(drop));
      if (is_kept_in_part(static_cast<Drop>(drop))) {
        add(Severity::kWarning, "kept." + name, count, "has " + counted(count, "event") + " in part: " + name);
        continue;
      }
      if (static_cast<Drop>(drop) == Drop::kGpuUnflushed && has_footer_of(trace_, FooterReason::kSaved)) {
        add(Severity::kError, "drop." + name, count,
            "dropped " + std::to_string(count) + ": " + name +
                ", among it GPU buffers that CUPTI still held when the process ended");
        continue;
      }
      const bool is_pool_empty = static_cast<Drop>(drop) == Drop::kGpuBuffersFull;
      add(Severity::kWarning, "drop." + name, count,
          "dropped " + std::to_string(count) + ": " + name +
              (is_pool_empty ? "; a larger --buffer-size holds more" : ""));
    }
    const std::uint64_t untold = untold_drops(sources_, process_);
    if (untold == 0) return;
    add(Severity::kWarning, "drop.untold", untold,
        "dropped " + std::to_string(untold) + " more by the wrapper's count, after " +
            (stop_words(trace_) != nullptr ? "its recording had stopped" : "the last that the spool tells"));
  }

 private:
  void add(Severity severity, const std::string& code, std::uint64_t count, const std::string& text) {
    diagnostics_->add(severity, code, place_, count, who_and_where_ + text);
  }

  // How the spool ends, which tells how its process did.
  void add_end() {
    const std::uint64_t published =
        record_ == nullptr ? 0 : static_cast<std::uint64_t>(std::max<std::int64_t>(record_->bytes, 0));
    const std::uint64_t there = trace_.health().file_bytes;
    if (there < published) {
      add(Severity::kError, "spool.short", published - there,
          "was published with " + counted(published, "byte") + " and has " + std::to_string(there) +
              ": the rest of the copy was lost after that");
    } else if (!trace_.footer()) {
      add(Severity::kError, "spool.cut", 1, "is cut: " + last_event() + "; " + cut_words(sources_, process_));
    } else if (const char* why = stop_words(trace_); why != nullptr) {
      add(Severity::kWarning, "recording.stopped", 1,
          "ends at " + time_of_footer() + ": " + why + "; the process went on");
    } else if (has_footer_of(trace_, FooterReason::kWindowEnd)) {
      add(Severity::kInfo, "recording.window-end", 1,
          "ends at " + time_of_footer() + ": its window was over and asked the job to end");
    } else if (has_footer_of(trace_, FooterReason::kSaved)) {
      add(Severity::kInfo, "process.died", 1,
          death_words(sources_, process_) + "; what it had recorded until then was saved");
    }
  }

  std::string time_of_footer() const {
    const auto wall_ns = static_cast<std::int64_t>(trace_.footer()->record.realtime_ns);
    return time_.words(sources_.axis_of_wall(process_.node, wall_ns));
  }

  std::string last_event() const {
    if (process_.clock == nullptr) return "it has no clock";
    std::uint64_t last = trace_.last_event_stamp();
    if (last == 0) {
      for (const spool::AnchorRecord& anchor : trace_.anchors()) last = std::max(last, anchor.counter);
      return "it holds no event, and its clock was last read at " + time_.words(process_.clock->axis_ns(last));
    }
    return "the last event is of " + time_.words(process_.clock->axis_ns(last));
  }

  // The local disk took no more: what came after that is lost, which makes the run partial.
  void add_write_failure() {
    const auto drop = trace_.drops().find(static_cast<std::uint32_t>(Drop::kSpoolWriteFailed));
    const std::uint64_t lost = drop == trace_.drops().end() ? 0 : drop->second;
    if (has_footer_of(trace_, FooterReason::kWriteFailed)) {
      const std::string when = time_of_footer();
      add(Severity::kError, "recording.failed", std::max<std::uint64_t>(lost, 1),
          lost > 0
              ? "could not be written any further: disk full or file size limit, since " + when
              : "ends at " + when + ": another spool of its task could not be written: disk full or file size limit");
    } else if (lost > 0) {
      add(Severity::kError, "recording.failed", lost,
          "could not be written at some time, which is not known: disk full or file size limit");
    }
  }

  void add_damage() {
    const spool::SpoolHealth& health = trace_.health();
    if (health.skipped_bytes > 0) {
      add(Severity::kError, "spool.damaged", health.skipped_bytes,
          "has damage: " + counted(health.skipped_bytes, "byte was|bytes were") + " skipped in " +
              counted(health.skipped_stretches, "stretch|stretches"));
    }
    if (health.torn_tail_bytes > 0) {
      add(Severity::kWarning, "spool.torn", health.torn_tail_bytes,
          "ends with " + counted(health.torn_tail_bytes, "byte") + " that are no whole block");
    }
    if (health.lost_blocks > 0) {
      add(Severity::kError, "spool.lost-blocks", health.lost_blocks,
          "lacks " + counted(health.lost_blocks, "block") + " in between");
    }
    if (trace_.damaged_blocks() > 0) {
      add(Severity::kError, "spool.damaged-block", trace_.damaged_blocks(),
          "has " + counted(trace_.damaged_blocks(), "block") + " that could not be decoded");
    }
    if (const std::uint64_t n = trace_.implausible_anchors(); n > 0) {
      add(Severity::kError, "spool.implausible", n,
          "has " + counted(n, "reading") + " of its clocks that no clock shows, and which " + (n == 1 ? "is" : "are") +
              " left out");
    }
  }

  const RunSources& sources_;
  const SourceProcess& process_;
  const rundir::SpoolTrace& trace_;
  const PublishedProcess* record_;  // may be null
  const Place place_;
  const std::string who_and_where_;
  const RunTime& time_;
  Diagnostics* diagnostics_;
};

// A copy that its own publishing left behind is no sign of a mistake: STEM.jxspool.part beside STEM.jxspool.
bool is_left_by_publishing(const DuplicateSpool& pair) {
  const std::string part = ".part";
  return pair.kept + part == pair.left_out || pair.left_out + part == pair.kept;
}

// A spool tells what its process did, and only its task's records how the task ended. Once a task.
void find_lost_records(const RunSources& sources, Diagnostics* diagnostics) {
  // node, and name of the task or, in older spools, pid of the wrapper
  std::set<std::tuple<std::uint32_t, std::string, std::int64_t>> told;
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    const SourceProcess& process = sources.processes[i];
    const spool::SpoolIdentity& id = process.trace.identity();
    if (process.task >= 0) continue;
    const auto task = std::tuple(process.node, id.text(IdentityKey::kTask), id.number(IdentityKey::kWrapperPid));
    if (!told.insert(task).second) continue;
    diagnostics->add(Severity::kWarning, "task.no-record", {process.rank, static_cast<std::uint32_t>(i), process.node},
                     1,
                     who(process.rank, id.text(IdentityKey::kHost)) +
                         ": its task's records are gone or cannot be read: how it ended is not known");
  }
}

}  // namespace

std::uint64_t untold_drops(const RunSources& sources, const SourceProcess& process) {
  const PublishedProcess* record = record_of(sources, process);
  if (record == nullptr || record->dropped <= 0) return 0;
  const std::uint64_t told = process.trace.loss_sum();
  const auto counted_drops = static_cast<std::uint64_t>(record->dropped);
  return counted_drops > told ? counted_drops - told : 0;
}

void diagnose_spool(const RunSources& sources, std::size_t index, const RunTime& time, Diagnostics* diagnostics) {
  SpoolFindings(sources, index, time, diagnostics).add_all();
}

void diagnose_spools_together(const RunSources& sources, const RunTime& time, Diagnostics* diagnostics) {
  for (const DuplicateSpool& pair : sources.duplicates) {
    if (is_left_by_publishing(pair)) {
      diagnostics->add(Severity::kInfo, "spool.part-left", {}, 1,
                       pair.left_out + " is an earlier state of " + pair.kept + " and was left out");
    } else {
      diagnostics->add(pair.is_identical ? Severity::kWarning : Severity::kError, "spool.duplicate", {}, 1,
                       pair.left_out + (pair.is_identical ? " is a copy of the spool " : " differs from its copy ") +
                           pair.kept + " and was left out; remove one of them");
    }
  }
  find_lost_records(sources, diagnostics);
  for (const ForeignSpool& spool : sources.foreign) {
    diagnostics->add(Severity::kWarning, "spool.foreign", {}, 1,
                     spool.path + " is of another run, " + spool.run_id + " (" + who(spool.rank, spool.host) +
                         (spool.attach_ns > 0 ? ", from " + time.words(spool.attach_ns) : "") +
                         "), and was left out; --run " + spool.run_id + " reads it");
  }
}

}  // namespace jaxprof::assembly
