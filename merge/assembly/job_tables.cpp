#include "merge/assembly/job_tables.h"

#include <algorithm>
#include <set>
#include <string>

#include "merge/assembly/env_tables.h"
#include "merge/assembly/gpu_findings.h"
#include "merge/assembly/gpu_words.h"
#include "merge/assembly/missing_ranks.h"
#include "merge/assembly/process_end.h"
#include "merge/assembly/rank_findings.h"
#include "merge/assembly/redaction.h"
#include "merge/assembly/run_time.h"
#include "merge/assembly/spool_findings.h"
#include "merge/assembly/task_findings.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

using runfile::RunTables;
using runfile::Severity;
using spool::IdentityKey;

std::string join(const std::vector<std::string>& words, const char* separator) {
  std::string text;
  for (const std::string& word : words) {
    if (!text.empty()) text += separator;
    text += word;
  }
  return text;
}

std::string clock_name(ClockId clock) {
  switch (clock) {
    case ClockId::kTsc:
      return "tsc";
    case ClockId::kCntvct:
      return "cntvct";
    case ClockId::kMonotonicRaw:
      return "monotonic_raw";
    case ClockId::kRealtime:
      return "realtime";
    case ClockId::kCupti:
      return "cupti";
    case ClockId::kNone:
      break;
  }
  return "unknown";
}

// `text` is words that each end with `end`.
std::vector<std::string> split(const std::string& text, char end) {
  std::vector<std::string> words;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = std::min(text.find(end, at), text.size()) - at;
    words.push_back(text.substr(at, length));
    at += length + 1;
  }
  return words;
}

// The command in one line, or its program alone.
std::string command_words(const RunSources& sources, const std::vector<std::string>& command) {
  return sources.is_to_be_redacted && !command.empty() ? program_of(command.front()) : join(command, " ");
}

// ---- attributes ---------------------------------------------------------------------------------------------------

// More ranks than any job has: a size beyond it is damage, and would be as many missing ranks.
constexpr std::int64_t kMaxWorldSize = 1 << 18;

std::int64_t told_world_size(const RunSources& sources) {
  std::int64_t size = -1;
  for (const rundir::FoundTask& task : sources.tasks) {
    if (!task.start.has_inner_ranks) size = std::max(size, task.start.world_size);
  }
  for (const SourceProcess& process : sources.processes) {
    size = std::max(size, process.trace.identity().number(IdentityKey::kWorldSize));
  }
  return size;
}

// What started the ranks: not always what started the wrappers. "" if the processes do not agree.
std::string launcher_of_ranks(const RunSources& sources) {
  std::string launcher;
  for (const SourceProcess& process : sources.processes) {
    if (process.rank < 0) continue;
    const std::string own = process.trace.identity().text(IdentityKey::kLauncher);
    if (!launcher.empty() && own != launcher) return "";
    launcher = own;
  }
  return launcher;
}

// -t of all processes; each list once.
std::string traces_of(const RunSources& sources) {
  std::set<std::string> lists;
  for (const SourceProcess& process : sources.processes)
    lists.insert(process.trace.identity().text(IdentityKey::kTrace));
  std::string text;
  for (const std::string& list : lists) {
    if (!list.empty()) text += (text.empty() ? "" : " | ") + list;
  }
  return text;
}

void fill_attributes(const RunSources& sources, RunTables* run, Diagnostics* diagnostics) {
  runfile::RunAttributes& to = run->attributes;
  to.run_id = sources.run_id;
  if (!sources.tasks.empty()) {
    const TaskStart& first = sources.tasks.front().start;
    to.job_id = first.job_id;
    to.step_id = first.step_id;
    to.restart = static_cast<std::int32_t>(first.restart);
    to.launcher = first.launcher;
    to.cmdline = command_words(sources, first.command);
    to.selection = first.selection;
    to.output_template = first.output;
  } else if (!sources.processes.empty()) {
    const spool::SpoolIdentity& id = sources.processes.front().trace.identity();
    to.job_id = id.text(IdentityKey::kJobId);
    to.step_id = id.text(IdentityKey::kStepId);
    to.restart = static_cast<std::int32_t>(id.number(IdentityKey::kRestart));
    to.launcher = id.text(IdentityKey::kLauncher);
    to.cmdline = command_words(sources, split(id.text(IdentityKey::kCommandLine), '\0'));
  } else if (!sources.observers.empty()) {
    to.job_id = sources.observers.front().trace.identity().text(IdentityKey::kJobId);
  }
  if (const std::string launcher = launcher_of_ranks(sources); !launcher.empty()) to.launcher = launcher;
  const std::int64_t world_size = told_world_size(sources);
  const bool is_possible = world_size <= kMaxWorldSize;
  to.world_size = world_size > 0 && is_possible ? static_cast<std::uint32_t>(world_size) : 0;
  if (!is_possible) {
    diagnostics->add(Severity::kWarning, "run.world-size", {}, 1,
                     "a world size of " + std::to_string(world_size) +
                         " cannot be and is taken as unknown: ranks that left no record go unnoticed");
  }
  to.trace = traces_of(sources);
  to.n_nodes = static_cast<std::uint32_t>(sources.nodes.size());
  to.n_processes = static_cast<std::uint32_t>(sources.processes.size());
  for (const SourceProcess& process : sources.processes) {
    to.n_dropped += process.trace.loss_sum() + untold_drops(sources, process);
  }
}

// ---- nodes --------------------------------------------------------------------------------------------------------

void fill_nodes(const RunSources& sources, RunTables* run) {
  runfile::NodeTable& table = run->nodes;
  for (std::size_t i = 0; i < sources.nodes.size(); ++i) {
    const std::size_t row = runfile::add_row(table);
    table.node[row] = static_cast<std::uint32_t>(i);
    table.host[row] = run->strings.intern(sources.nodes[i].host);
    table.boot_id[row] = sources.nodes[i].boot_id;
    table.n_processes[row] = 0;
    table.n_tasks[row] = 0;
  }
  for (const SourceProcess& process : sources.processes) ++table.n_processes[process.node];
  for (const rundir::FoundTask& task : sources.tasks) {
    ++table.n_tasks[sources.node_of(task.start.boot_id, task.start.host)];
  }
}

// ---- tasks --------------------------------------------------------------------------------------------------------

void fill_task(const RunSources& sources, std::size_t index, const RunTime& time, RunTables* run,
               Diagnostics* diagnostics) {
  const rundir::FoundTask& task = sources.tasks[index];
  const TaskStart& start = task.start;
  const TaskVerdict verdict = judge_task(sources, index, time);
  runfile::TaskTable& table = run->tasks;
  const std::size_t row = runfile::add_row(table);
  table.task[row] = static_cast<std::uint32_t>(row);
  table.rank[row] = static_cast<std::int32_t>(start.rank);
  table.node[row] = sources.node_of(start.boot_id, start.host);
  table.state[row] = verdict.state;
  table.reason[row] = run->strings.intern(verdict.reason);
  if (task.end) {
    table.exit_code[row] =
        static_cast<std::int32_t>(task.end->signal > 0 ? 128 + task.end->signal : task.end->exit_code);
    if (task.end->signal > 0) table.signal[row] = static_cast<std::int32_t>(task.end->signal);
  }
  table.output[row] = run->strings.intern(start.stem);
  table.host[row] = run->strings.intern(start.host);
  if (task.end && task.end->pid > 0) table.pid[row] = task.end->pid;
  table.restart[row] = static_cast<std::int32_t>(start.restart);
  const Place place{static_cast<std::int32_t>(start.rank), runfile::kNoIndex, table.node[row]};
  diagnose_task(sources, index, verdict, place, diagnostics);
}

// ---- processes ----------------------------------------------------------------------------------------------------

void fill_process(const RunSources& sources, std::size_t index, RunTables* run) {
  const SourceProcess& process = sources.processes[index];
  const rundir::SpoolTrace& trace = process.trace;
  const spool::SpoolIdentity& id = trace.identity();
  runfile::ProcessTable& table = run->processes;
  const std::size_t row = runfile::add_row(table);
  table.process[row] = static_cast<std::uint32_t>(index);
  if (process.task >= 0) table.task[row] = static_cast<std::uint32_t>(process.task);
  table.rank[row] = process.rank;
  table.rank_source[row] = run->strings.intern(id.text(IdentityKey::kRankVariable));
  table.world_size[row] = static_cast<std::int32_t>(id.number(IdentityKey::kWorldSize));
  table.local_rank[row] = static_cast<std::int32_t>(id.number(IdentityKey::kLocalRank));
  table.restart[row] = static_cast<std::int32_t>(id.number(IdentityKey::kRestart));
  table.pid[row] = id.number(IdentityKey::kPid);
  if (const auto span = recorded_span(process)) {
    table.start_ns[row] = span->first_ns;
    table.end_ns[row] = span->last_ns;
  }
  table.node[row] = process.node;
  // The wrapper waits for its command alone: of other processes nobody knows how they ended.
  const TaskEnd* end = end_of(sources, process);
  if (end != nullptr && end->pid > 0 && end->pid == table.pid[row]) {
    table.exit[row] = run->tasks.exit_code[static_cast<std::size_t>(process.task)];
  }
  table.is_complete[row] = trace.footer() ? 1 : 0;
  table.n_dropped[row] = trace.loss_sum() + untold_drops(sources, process);
  table.nvtx_instances[row] = trace.nvtx_instances();
  std::uint32_t plugin_version = 0;
  for (const rundir::Communicator& comm : trace.communicators()) plugin_version = std::max(plugin_version, comm.api);
  table.plugin_version[row] = plugin_version;
  const std::string& path = trace.path();
  table.spool[row] = run->strings.intern(path.substr(path.rfind('/') + 1));
  table.spool_bytes[row] = trace.health().file_bytes;
  table.event_clock[row] = run->strings.intern(clock_name(trace.event_clock()));
  if (const auto& collector = trace.gpu().collector) {
    table.gpu_mode[row] = gpu_mode_of(collector->mode);
    if (collector->version > 0) table.cupti_version[row] = collector->version;
    table.gpu_note[row] = run->strings.intern(trace.text(collector->note));
  } else if (const std::string option = not_asked_words(id); !option.empty()) {
    table.gpu_mode[row] = runfile::GpuMode::kNotAsked;
    table.gpu_note[row] = run->strings.intern(option);
  }
}

}  // namespace

void fill_job_tables(const RunSources& sources, RunTables* run, Diagnostics* diagnostics) {
  if (sources.is_to_be_redacted) begin_redaction(sources, run);
  const RunTime time(sources);
  fill_attributes(sources, run, diagnostics);
  if (sources.is_to_be_redacted) redact_attributes(sources, &run->attributes);
  fill_nodes(sources, run);
  for (std::size_t i = 0; i < sources.tasks.size(); ++i) fill_task(sources, i, time, run, diagnostics);
  add_missing_ranks(sources, run, diagnostics);
  fill_env_tables(sources, run, diagnostics);
  for (std::size_t i = 0; i < sources.processes.size(); ++i) {
    fill_process(sources, i, run);
    diagnose_spool(sources, i, time, diagnostics);
  }
  diagnose_uncollected(sources, diagnostics);
  diagnose_files(sources, diagnostics);
  diagnose_spools_together(sources, time, diagnostics);
  diagnose_ranks(sources, time, diagnostics);
}

}  // namespace jaxprof::assembly
