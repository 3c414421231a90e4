#include "launcher/run_end.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"
#include "launcher/run_marks.h"

namespace jaxprof::launcher {
namespace {

// Which tasks of a run have started, and which of them are over as far as the last line goes. By the names of files
// alone: with 512 tasks, 512 wrappers ask this.
struct Tasks {
  std::vector<std::string> started, ended, unprofiled;
};

Tasks list_tasks(const std::string& state_directory) {
  Tasks tasks;
  const std::string unprofiled = run_layout::kUnprofiledPrefix;
  for (const std::string& file : list_directory(state_directory)) {
    if (std::string task = run_layout::task_of_start_record(file); !task.empty()) {
      tasks.started.push_back(std::move(task));
    } else if (task = run_layout::task_of_end_record(file); !task.empty()) {
      tasks.ended.push_back(std::move(task));
    } else if (file.starts_with(unprofiled)) {
      tasks.unprofiled.push_back(file.substr(unprofiled.size()));
    }
  }
  return tasks;
}

bool contains(const std::vector<std::string>& tasks, const std::string& task) {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

bool are_all_over(const Tasks& tasks) {
  return tasks.started.size() <= tasks.ended.size() + tasks.unprofiled.size() &&
         std::all_of(tasks.started.begin(), tasks.started.end(), [&tasks](const std::string& task) {
           return contains(tasks.ended, task) || contains(tasks.unprofiled, task);
         });
}

}  // namespace

Status write_end_record(const std::string& state_directory, const TaskEnd& end) {
  auto is_new =
      write_atomic_file(run_layout::task_end_path(state_directory, end.task), to_json(end), Publish::kIfAbsent);
  if (!is_new) return tl::unexpected(std::move(is_new.error()));
  return {};
}

std::string last_line_if_last(const std::string& directory, const std::string& state_directory,
                              std::optional<std::int64_t> expected_ranks, const spool::IsTimeUp& is_time_up,
                              const WindowPlan& window) {
  const Tasks tasks = list_tasks(state_directory);
  if (static_cast<std::int64_t>(tasks.started.size()) < expected_ranks.value_or(0) || !are_all_over(tasks)) return {};
  if (is_time_up() || !make_mark(run_layout::mark_path(state_directory, "last"))) return {};
  std::vector<TaskEnd> ends;
  for (const std::string& task : tasks.ended) {
    const auto text = read_small_file(run_layout::task_end_path(state_directory, task), 16 << 20);
    if (!text) continue;
    if (auto end = parse_task_end(*text)) ends.push_back(std::move(*end));
  }
  // What was expected are tasks; what was written may be ranks that they have started.
  const bool is_other_count =
      access(run_layout::mark_path(state_directory, run_layout::kUnforeseenRanks).c_str(), F_OK) == 0;
  return last_line(ends, is_other_count ? std::nullopt : expected_ranks, directory, window);
}

}  // namespace jaxprof::launcher
