// Words from end records.
#include "merge/assembly/process_end.h"

#include <algorithm>
#include <cstring>

#include "agent/contract/window_plan.h"

namespace jaxprof::assembly {
namespace {

using spool::IdentityKey;

// The end record of the task whose command this process is; null if it is another process, or nobody says.
const TaskEnd* end_of_command(const RunSources& sources, const SourceProcess& process) {
  const TaskEnd* end = end_of(sources, process);
  const bool is_command =
      end != nullptr && end->pid > 0 && end->pid == process.trace.identity().number(IdentityKey::kPid);
  return is_command ? end : nullptr;
}

// "signal 11 (SIGSEGV)".
std::string signal_words(std::int64_t signal) {
  const char* name = sigabbrev_np(static_cast<int>(signal));
  return "signal " + std::to_string(signal) + (name == nullptr ? "" : std::string(" (SIG") + name + ")");
}

// Had the process's window ended which was to end the job? Its last close is then neither of its exit nor of a stop.
bool has_ended_job(const SourceProcess& process) {
  WindowPlan plan;
  const std::string end = process.trace.identity().text(IdentityKey::kCaptureRangeEnd);
  const std::vector<spool::SegmentState>& edges = process.trace.gpu().segments;
  if (parse_capture_range_end(end.c_str(), &plan) != nullptr || edges.empty() || edges.back().is_open != 0)
    return false;
  const auto cause = static_cast<spool::WindowCause>(edges.back().cause);
  if (cause == spool::WindowCause::kExit || cause == spool::WindowCause::kStopped) return false;
  const bool is_last = plan.repeat_count != 0 && edges.back().segment + 1 >= plan.repeat_count;
  return plan.end == WindowEnd::kStopShutdown || (plan.end == WindowEnd::kRepeatShutdown && is_last);
}

// What went before an end that was asked for: the process may be killed while CUPTI is still being waited for.
std::string asked_words(const SourceProcess& process) {
  if (!has_ended_job(process)) return {};
  return ", after its window was over, which ends the job (--capture-range-end " +
         process.trace.identity().text(IdentityKey::kCaptureRangeEnd) + ")";
}

// What the wrapper noted of this process; "" if nothing.
std::string note_on(const TaskEnd& end, const SourceProcess& process) {
  const std::int64_t pid = process.trace.identity().number(IdentityKey::kPid);
  const auto record = std::find_if(end.processes.begin(), end.processes.end(),
                                   [pid](const PublishedProcess& p) { return p.pid == pid && !p.note.empty(); });
  return record == end.processes.end() ? "" : "; " + record->note;
}

}  // namespace

const TaskEnd* end_of(const RunSources& sources, const SourceProcess& process) {
  if (process.task < 0) return nullptr;
  const rundir::FoundTask& task = sources.tasks[static_cast<std::size_t>(process.task)];
  return task.end ? &*task.end : nullptr;
}

std::string death_words(const RunSources& sources, const SourceProcess& process) {
  const std::string words = "ended without its exit handlers";
  const std::string asked = asked_words(process);
  const TaskEnd* end = end_of_command(sources, process);
  if (end != nullptr && end->signal > 0) return words + ", by " + signal_words(end->signal) + asked;
  if (end != nullptr && end->exit_code >= 0) {
    return words + " (_exit or exec), with exit code " + std::to_string(end->exit_code) + asked;
  }
  return words + " (killed, _exit or exec)" + asked;
}

std::string cut_words(const RunSources& sources, const SourceProcess& process) {
  const TaskEnd* end = end_of(sources, process);
  if (end == nullptr && process.task >= 0) {
    return "its wrapper was killed, or the run goes on; `jaxprof collect " + sources.directory + "` on " +
           process.trace.identity().text(IdentityKey::kHost) + " may have more";
  }
  const TaskEnd* own_end = end_of_command(sources, process);
  const std::string more = asked_words(process) + (end == nullptr ? "" : note_on(*end, process));
  if (own_end != nullptr && own_end->signal > 0) {
    return "its process was killed by " + signal_words(own_end->signal) + more;
  }
  if (own_end != nullptr && own_end->exit_code >= 0) {
    return "its process ended without its exit handlers (_exit or exec), with exit code " +
           std::to_string(own_end->exit_code) + more;
  }
  return "its process was killed, called _exit or exec, or still runs" + more;
}

}  // namespace jaxprof::assembly
