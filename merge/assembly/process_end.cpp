// Words from end records.
#include "merge/assembly/process_end.h"

#include <algorithm>
#include <cstring>

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
  const TaskEnd* end = end_of_command(sources, process);
  if (end != nullptr && end->signal > 0) return words + ", by " + signal_words(end->signal);
  if (end != nullptr && end->exit_code >= 0) {
    return words + " (_exit or exec), with exit code " + std::to_string(end->exit_code);
  }
  return words + " (killed, _exit or exec)";
}

std::string cut_words(const RunSources& sources, const SourceProcess& process) {
  const TaskEnd* end = end_of(sources, process);
  if (end == nullptr && process.task >= 0) {
    return "its wrapper was killed, or the run goes on; `jaxprof collect " + sources.directory + "` on " +
           process.trace.identity().text(IdentityKey::kHost) + " may have more";
  }
  const TaskEnd* own_end = end_of_command(sources, process);
  const std::string note = end == nullptr ? "" : note_on(*end, process);
  if (own_end != nullptr && own_end->signal > 0) {
    return "its process was killed by " + signal_words(own_end->signal) + note;
  }
  if (own_end != nullptr && own_end->exit_code >= 0) {
    return "its process ended without its exit handlers (_exit or exec), with exit code " +
           std::to_string(own_end->exit_code) + note;
  }
  return "its process was killed, called _exit or exec, or still runs" + note;
}

}  // namespace jaxprof::assembly
