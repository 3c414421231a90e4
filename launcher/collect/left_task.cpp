#include "launcher/collect/left_task.h"

#include <errno.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "launcher/slot_text.h"

namespace jaxprof::launcher {
namespace {

// A path in a record is no reason yet to write there: the page must name the same folder, task and node.
bool is_page_of(const SessionPlan& plan, const TaskStart& start) {
  return start.run_id == text_of(plan.run.run_id) && start.boot_id == text_of(plan.boot_id) &&
         start.host == text_of(plan.host) && start.pid == plan.wrapper_pid &&
         start.spool_directory == text_of(plan.spool_directory);
}

// None: the task has left nothing here.
std::optional<LeftTask> look_at(const std::string& state_directory, const std::string& file, const Node& node) {
  const auto text = read_small_file(state_directory + "/" + file);
  auto start = text ? parse_task_start(*text) : fail(text.error().code, "");
  if (!start || !start->is_profiled || start->spool_directory.empty()) return std::nullopt;
  LeftTask task;
  task.state_directory = state_directory;
  task.start = std::move(*start);
  // After a reboot the node is told by its name. Another node's folder may be in sight, on a disk that they share.
  task.is_of_this_boot = task.start.boot_id == node.boot_id;
  if (!task.is_of_this_boot && task.start.host != node.host) return std::nullopt;
  const std::string session = run_layout::session_path(task.start.spool_directory);
  struct stat status {};
  if (stat(session.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    task.fault = task.start.spool_directory + " cannot be read: " + std::strerror(errno);
    return task;
  }
  task.page = map_session_page(session.c_str());
  if (task.page == nullptr) {
    task.fault = session + " is not the session page of this version of jaxprof, or cannot be written to";
  } else if (!is_page_of(task.page->plan, task.start)) {
    return std::nullopt;
  }
  return task;
}

bool is_of_run(const std::string& folder, const std::string& run_id) {
  return folder.starts_with(run_layout::kRunPrefix) && (run_id.empty() || folder == run_layout::kRunPrefix + run_id);
}

}  // namespace

std::map<std::string, std::vector<std::int64_t>> ranks_without_end_elsewhere(const std::string& directory,
                                                                             const std::string& run_id,
                                                                             const Node& node) {
  std::map<std::string, std::vector<std::int64_t>> ranks;
  for (const std::string& folder : list_directory(directory)) {
    if (!is_of_run(folder, run_id)) continue;
    const std::string state_directory = directory + "/" + folder;
    const std::vector<std::string> files = list_directory(state_directory);
    for (const std::string& file : files) {
      const std::string task = run_layout::task_of_start_record(file);
      const std::string end = run_layout::task_end_path("", task).substr(1);
      if (task.empty() || std::binary_search(files.begin(), files.end(), end)) continue;
      const auto text = read_small_file(state_directory + "/" + file);
      const auto start = text ? parse_task_start(*text) : fail(text.error().code, "");
      if (start && start->is_profiled && start->host != node.host) ranks[start->host].push_back(start->rank);
    }
  }
  return ranks;
}

Result<std::vector<LeftTask>> find_left_tasks(const std::string& directory, const std::string& run_id,
                                              const Node& node) {
  struct stat status {};
  if (stat(directory.c_str(), &status) != 0) {
    return fail_errno(ErrorCode::kInputUnreadable, "cannot read " + directory);
  }
  bool has_run = false, has_asked_run = false;
  std::vector<LeftTask> tasks;
  for (const std::string& folder : list_directory(directory)) {
    if (!folder.starts_with(run_layout::kRunPrefix)) continue;
    has_run = true;
    if (!is_of_run(folder, run_id)) continue;
    has_asked_run = true;
    const std::string state_directory = directory + "/" + folder;
    for (const std::string& file : list_directory(state_directory)) {
      if (run_layout::task_of_start_record(file).empty()) continue;
      if (auto task = look_at(state_directory, file, node)) tasks.push_back(std::move(*task));
    }
  }
  if (!has_run) return fail(ErrorCode::kInputUnreadable, directory + " holds no run of jaxprof-exec");
  if (!has_asked_run) return fail(ErrorCode::kUsage, directory + " holds no run " + run_id);
  return tasks;
}

}  // namespace jaxprof::launcher
