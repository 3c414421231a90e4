#include "launcher/run_end.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "launcher/announcement.h"
#include "launcher/directory_listing.h"
#include "launcher/run_marks.h"

namespace jaxprof::launcher {
namespace {

// Tasks that have a start record and will never have an end record: they run without a wrapper.
std::int64_t count_unprofiled(const std::string& state_directory, const std::vector<std::string>& tasks) {
  std::int64_t count = 0;
  for (const std::string& task : tasks) {
    const auto text = read_small_file(run_layout::task_start_path(state_directory, task));
    const auto start = text ? parse_task_start(*text) : fail(text.error().code, "");
    count += start && !start->is_profiled ? 1 : 0;
  }
  return count;
}

}  // namespace

Status write_end_record(const std::string& state_directory, const TaskEnd& end) {
  auto is_new =
      write_atomic_file(run_layout::task_end_path(state_directory, end.task), to_json(end), Publish::kIfAbsent);
  if (!is_new) return tl::unexpected(std::move(is_new.error()));
  return {};
}

std::string last_line_if_last(const std::string& directory, const std::string& state_directory,
                              std::optional<std::int64_t> expected_ranks, const spool::IsTimeUp& is_time_up) {
  std::vector<std::string> started, ended, open;
  for (const std::string& file : list_directory(state_directory)) {
    if (std::string task = run_layout::task_of_start_record(file); !task.empty()) started.push_back(std::move(task));
    if (std::string task = run_layout::task_of_end_record(file); !task.empty()) ended.push_back(std::move(task));
  }
  const auto number = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  // Cheap first: with 512 tasks all but the last few stop here, without reading a record.
  if (number(started) < expected_ranks.value_or(0)) return {};
  for (const std::string& task : started) {
    if (!std::binary_search(ended.begin(), ended.end(), task)) open.push_back(task);
  }
  if (count_unprofiled(state_directory, open) < number(open)) return {};
  if (is_time_up() || !make_mark(run_layout::mark_path(state_directory, "last"))) return {};
  std::vector<TaskEnd> ends;
  for (const std::string& task : ended) {
    const auto text = read_small_file(run_layout::task_end_path(state_directory, task), 16 << 20);
    if (!text) continue;
    if (auto end = parse_task_end(*text)) ends.push_back(std::move(*end));
  }
  return last_line(ends, expected_ranks, directory);
}

}  // namespace jaxprof::launcher
