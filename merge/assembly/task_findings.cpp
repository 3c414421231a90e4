#include "merge/assembly/task_findings.h"

#include <algorithm>
#include <string_view>

#include "agent/contract/run_layout.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using runfile::TaskState;

bool has_spool(const RunSources& sources, std::size_t index) {
  return std::any_of(sources.processes.begin(), sources.processes.end(),
                     [index](const SourceProcess& p) { return p.task == static_cast<std::int64_t>(index); });
}

bool is_complete(const RunSources& sources, std::size_t index) {
  return std::all_of(sources.processes.begin(), sources.processes.end(), [index](const SourceProcess& p) {
    return p.task != static_cast<std::int64_t>(index) || p.trace.footer().has_value();
  });
}

const PublishedProcess* find_state(const TaskEnd& end, std::string_view state) {
  const auto found = std::find_if(end.processes.begin(), end.processes.end(),
                                  [state](const PublishedProcess& p) { return p.state == state; });
  return found == end.processes.end() ? nullptr : &*found;
}

// Is `path` where the task's own process, or one that its end record names, was published to?
bool is_file_of(const rundir::FoundTask& task, const std::string& path) {
  const std::string name = path.substr(path.rfind('/') + 1);
  const auto is_spool_named = [&name](const std::string& spool) {
    return !spool.empty() && (name == spool || name == spool + run_layout::kPartSuffix);
  };
  if (!task.start.stem.empty() && is_spool_named(task.start.stem + run_layout::kSpoolSuffix)) return true;
  return task.end && std::any_of(task.end->processes.begin(), task.end->processes.end(),
                                 [&](const PublishedProcess& p) { return is_spool_named(p.spool); });
}

// "; REASON" for each file of the task that cannot be read.
std::string unreadable_files(const RunSources& sources, const rundir::FoundTask& task) {
  std::string text;
  for (const rundir::UnreadableFile& file : sources.unreadable) {
    if (is_file_of(task, file.path)) text += "; " + file.reason;
  }
  return text;
}

TaskVerdict judge_ended_task(const RunSources& sources, const rundir::FoundTask& task) {
  for (const PublishedProcess& process : task.end->processes) {
    if (!process.kept.empty()) {
      return {TaskState::kMissingTask,
              "not published: " + process.note + "; it is on " + task.start.host + " in " + process.kept,
              "rank.missing"};
    }
    if (!process.spool.empty()) {
      return {TaskState::kMissingTask,
              process.spool + " was published and is gone or unreadable" + unreadable_files(sources, task),
              "rank.missing"};
    }
  }
  if (const auto* failed = find_state(*task.end, "failed")) return {TaskState::kFailed, failed->note, "rank.failed"};
  if (const auto* stopped = find_state(*task.end, "stopped")) {
    return {TaskState::kUnprofiled, stopped->note, "recording.stopped", Severity::kWarning};
  }
  if (find_state(*task.end, "not-selected") != nullptr) {
    return {TaskState::kUnprofiled, "no rank of it is selected", nullptr};
  }
  std::string notes;
  for (const std::string& note : task.end->notes) notes += (notes.empty() ? "" : "; ") + note;
  return {TaskState::kNoAgent, notes, "rank.no-agent", Severity::kWarning};
}

}  // namespace

TaskVerdict judge_task(const RunSources& sources, std::size_t index, const RunTime& time) {
  const rundir::FoundTask& task = sources.tasks[index];
  const TaskStart& start = task.start;
  if (!start.is_profiled) return {TaskState::kUnprofiled, start.reason, "rank.unprofiled"};
  if (has_spool(sources, index)) {
    if (task.end || !is_complete(sources, index)) return {};
    return {TaskState::kProfiled,
            "its wrapper was killed before it could write how its command ended, or the run goes on; what it published "
            "is complete",
            "task.no-end", Severity::kWarning};
  }
  if (task.end) return judge_ended_task(sources, task);
  return {TaskState::kMissingTask,
          "its wrapper ended before it could publish; what it recorded is on " + start.host + " in " +
              start.spool_directory + " (`jaxprof collect " + sources.directory +
              "` there brings it in); it began at " +
              time.words(sources.axis_of_wall(sources.node_of(start.boot_id, start.host), start.realtime_ns)) +
              unreadable_files(sources, task),
          "rank.missing"};
}

void diagnose_task(const RunSources& sources, std::size_t index, const TaskVerdict& verdict, const Place& place,
                   Diagnostics* diagnostics) {
  const rundir::FoundTask& task = sources.tasks[index];
  const std::string name = who(task.start.rank, task.start.host) + ": ";
  const auto add = [&](Severity severity, const char* code, const std::string& text) {
    diagnostics->add(severity, code, place, 1, name + text);
  };
  if (verdict.code != nullptr) add(verdict.severity, verdict.code, verdict.reason);
  for (const std::string& note : task.start.notes) add(Severity::kInfo, "task.note", note);
  if (!task.end) return;
  const bool is_profiled = has_spool(sources, index);
  if (task.end->is_collected) {
    add(Severity::kInfo, "task.collected",
        "how its command ended is not known: its wrapper was killed, and `jaxprof collect` wrote its end");
  }
  if (!is_profiled) return;
  for (const std::string& note : task.end->notes) add(Severity::kInfo, "task.note", note);
  for (const PublishedProcess& process : task.end->processes) {
    const std::string which = "process " + std::to_string(process.pid);
    if (!process.kept.empty()) {
      add(Severity::kError, "spool.not-published",
          which + " was not published: " + process.note + "; it is in " + process.kept);
    } else if (process.state == "stopped") {
      add(Severity::kWarning, "recording.stopped", which + " was not recorded: " + process.note);
    } else if (process.state == "failed") {
      add(Severity::kError, "process.failed",
          process.pid > 0 ? which + " was not recorded: " + process.note : "not recorded: " + process.note);
    }
  }
}

void diagnose_uncollected(const RunSources& sources, Diagnostics* diagnostics) {
  constexpr std::size_t kShownNodes = 64;
  std::size_t n_tasks = 0;
  std::vector<std::string> hosts;  // by their first rank
  for (std::size_t i = 0; i < sources.tasks.size(); ++i) {
    const rundir::FoundTask& task = sources.tasks[i];
    const bool is_whole = has_spool(sources, i) && is_complete(sources, i);
    const bool has_kept = task.end && std::any_of(task.end->processes.begin(), task.end->processes.end(),
                                                  [](const PublishedProcess& p) { return !p.kept.empty(); });
    if (!task.start.is_profiled || (task.end ? !has_kept : is_whole)) continue;
    ++n_tasks;
    if (std::find(hosts.begin(), hosts.end(), task.start.host) == hosts.end()) hosts.push_back(task.start.host);
  }
  if (n_tasks < 2) return;
  std::string names;
  for (std::size_t i = 0; i < std::min(kShownNodes, hosts.size()); ++i) names += (i > 0 ? ", " : "") + hosts[i];
  if (hosts.size() > kShownNodes) names += " and " + counted(hosts.size() - kShownNodes, "more node");
  diagnostics->add(Severity::kInfo, "task.to-collect", {}, n_tasks,
                   counted(n_tasks, "task") + " may have left more on their nodes: run `jaxprof collect " +
                       sources.directory + "` on " + names);
}

void diagnose_files(const RunSources& sources, Diagnostics* diagnostics) {
  for (const rundir::UnreadableFile& file : sources.unreadable) {
    bool is_told = false;
    for (std::size_t i = 0; i < sources.tasks.size(); ++i) {
      const rundir::FoundTask& task = sources.tasks[i];
      is_told |= task.start.is_profiled && !has_spool(sources, i) && is_file_of(task, file.path);
    }
    if (!is_told) diagnostics->add(Severity::kError, "file.unreadable", {}, 1, file.reason);
  }
}

}  // namespace jaxprof::assembly
