#include "launcher/run_end.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"

namespace jaxprof::launcher {
namespace {

// Which tasks of a run have started, and which of them are over as far as the last line goes; without those that an
// earlier last line was about. By the names of files alone: with 512 tasks, 512 wrappers ask this.
struct Tasks {
  std::vector<std::string> started, ended, unprofiled;
};

bool contains(const std::vector<std::string>& tasks, const std::string& task) {
  return std::find(tasks.begin(), tasks.end(), task) != tasks.end();
}

void leave_out(const std::vector<std::string>& tasks, std::vector<std::string>* from) {
  std::erase_if(*from, [&tasks](const std::string& task) { return contains(tasks, task); });
}

std::string join_lines(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

// The last lines of the run so far: one, and one more each time that it was run again under the same id, as by hand.
struct LastLines {
  std::vector<std::string> tasks;  // that they were about
  std::string next_mark;           // of the one that comes now
};

LastLines read_last_lines(const std::string& state_directory) {
  LastLines lines;
  for (int number = 1;; ++number) {
    lines.next_mark = run_layout::mark_path(state_directory, number == 1 ? "last" : "last." + std::to_string(number));
    const auto text = read_small_file(lines.next_mark, 16 << 20);
    if (!text) return lines;
    for (std::string& task : split_lines(*text)) lines.tasks.push_back(std::move(task));
  }
}

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
  Tasks tasks = list_tasks(state_directory);
  if (!are_all_over(tasks)) return {};
  const LastLines before = read_last_lines(state_directory);
  for (std::vector<std::string>* list : {&tasks.started, &tasks.ended, &tasks.unprofiled}) {
    leave_out(before.tasks, list);
  }
  const auto least = std::max<std::int64_t>(expected_ranks.value_or(0), 1);
  if (static_cast<std::int64_t>(tasks.started.size()) < least || is_time_up()) return {};
  if (!write_atomic_file(before.next_mark, join_lines(tasks.started), Publish::kIfAbsent, Durable::kInCache)
           .value_or(false)) {
    return {};
  }
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
