#include "launcher/task_finish.h"

#include <errno.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "agent/base/process_presence.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"
#include "launcher/run_end.h"
#include "launcher/run_marks.h"
#include "launcher/unforeseen_ranks.h"

namespace jaxprof::launcher {
namespace {

TaskEnd make_end(const Task& task, const JobStatus& job, pid_t job_pid) {
  TaskEnd end;
  end.task = task.name;
  end.pid = job_pid;
  end.exit_code = job.exit_code;
  end.signal = job.signal;
  end.realtime_ns = clock_ns(CLOCK_REALTIME);
  if (job.exec_errno != 0) end.notes = {describe_exec_failure(task.start.command.front(), job.exec_errno)};
  return end;
}

// Beside the spools, for `jaxprof collect`. Where not even that can be, the task has no end, and the merge says so. The
// job waits for this: a busy disk must not hold its end.
void keep_on_node(const Task& task, const TaskEnd& end) {
  auto kept = write_atomic_file(run_layout::kept_end_path(task.spool_directory), to_json(end), Publish::kReplace,
                                Durable::kInCache);
  (void)kept;
}

// Does the run directory still know the task, so that what it left can be collected?
bool is_known(const Task& task) {
  const std::string start = run_layout::task_start_path(task.plan.state_directory, task.name);
  return access(start.c_str(), F_OK) == 0 || errno != ENOENT;
}

// "n1:/tmp/jaxprof.0.5.0.0.rank1.77 keeps 3 spools: …"
std::string describe_kept(const Task& task, const std::vector<PublishedProcess>& processes) {
  std::size_t count = 0;
  const PublishedProcess* first = nullptr;
  for (const PublishedProcess& process : processes) {
    if (process.kept.empty()) continue;
    ++count;
    if (first == nullptr) first = &process;
  }
  if (first == nullptr) return {};
  return task.node.host + ":" + task.spool_directory + " keeps " +
         (count == 1 ? "a spool" : std::to_string(count) + " spools") + ": " + first->note + "; `jaxprof collect " +
         task.plan.directory + "` there brings it in";
}

// "not recorded on n1: process 77: …; and 3 more"
std::string describe_failed(const Task& task, const std::vector<PublishedProcess>& processes) {
  std::size_t count = 0;
  std::string first;
  for (const PublishedProcess& process : processes) {
    if (process.state != "failed" || process.note.empty()) continue;
    if (++count > 1) continue;
    first = (process.pid > 0 ? "process " + std::to_string(process.pid) + ": " : "") + process.note;
  }
  if (count == 0) return {};
  return "not recorded on " + task.node.host + ": " + first +
         (count > 1 ? "; and " + std::to_string(count - 1) + " more" : "");
}

}  // namespace

SpoolSource source_of(const Task& task) {
  SpoolSource source;
  source.page = task.page;
  source.spool_directory = task.spool_directory;
  source.run_directory = task.plan.directory;
  source.host = task.node.host;
  source.claim_rules = task.claim_rules;
  source.claim = task.claim;
  source.is_present = [](const ProcessSlot& slot) { return is_process_present(slot.pid, slot.start_ticks); };
  return source;
}

void keep_end_on_node(const Task& task, const JobStatus& job, pid_t job_pid) {
  keep_on_node(task, make_end(task, job, job_pid));
}

std::vector<std::string> finish_task(const Options& options, const Task& task, const JobStatus& job, pid_t job_pid,
                                     SpoolCollection& spools, const spool::IsTimeUp& is_time_up) {
  std::vector<std::string> lines;
  TaskEnd end = make_end(task, job, job_pid);
  end.processes = spools.finish(is_time_up);
  if (job.exec_errno != 0) {
    lines.push_back(end.notes.back());
  } else {
    end.notes = spools.notes();
  }
  if (std::string ranks = describe_unforeseen_ranks(*task.page, options.command.front()); !ranks.empty()) {
    end.notes.push_back(ranks);
    const bool is_first = make_mark(run_layout::mark_path(task.plan.state_directory, run_layout::kUnforeseenRanks));
    if (is_first && !options.is_quiet) lines.push_back(std::move(ranks));
  }
  // All tasks know it: one of them has it on record for the run.
  if (!task.plan.unmatched_numbers.empty() &&
      make_mark(run_layout::mark_path(task.plan.state_directory, "unmatched-numbers"))) {
    end.notes.push_back(task.plan.unmatched_numbers);
  }
  const std::string kept = describe_kept(task, end.processes);
  if (!kept.empty()) lines.push_back(kept);
  if (std::string failed = describe_failed(task, end.processes); !failed.empty()) lines.push_back(std::move(failed));
  if (auto written = write_end_record(task.plan.state_directory, end); !written) {
    if (end.processes.empty() && !is_known(task)) {  // nothing that anyone could collect
      remove_spool_directory(task);
      lines.push_back(written.error().message);
      return lines;
    }
    keep_on_node(task, end);
    if (kept.empty()) {
      lines.push_back(task.node.host + ":" + task.spool_directory + " keeps how the task ended: " +
                      written.error().message + "; `jaxprof collect " + task.plan.directory + "` there brings it in");
    }
    return lines;
  }
  if (kept.empty()) remove_spool_directory(task);
  const auto expected =
      options.has_inner_ranks ? std::nullopt : count_selected_ranks(options.selection, task.plan.rank, Env());
  std::string line =
      last_line_if_last(task.plan.directory, task.plan.state_directory, expected, is_time_up, options.recording.window);
  if (!line.empty() && !options.is_quiet) lines.push_back(std::move(line));
  return lines;
}

}  // namespace jaxprof::launcher
