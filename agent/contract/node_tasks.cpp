#include "agent/contract/node_tasks.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/base/directory_listing.h"
#include "agent/base/file_lock.h"
#include "agent/base/process_presence.h"
#include "agent/contract/run_layout.h"

namespace jaxprof {

bool NodeTasks::is_alive(const std::string& name) {
  if (name.starts_with(run_layout::kTaskPrefix)) return is_locked_by_other(folder_ + "/" + name);
  const auto task = run_layout::plain_task_of(name);
  if (!task || ended_.contains(name)) return false;
  if (is_process_present(static_cast<pid_t>(task->pid), task->start_ticks)) return true;
  ended_.insert(name);
  return false;
}

bool NodeTasks::is_any_alive() {
  const std::vector<std::string> names = list_directory(folder_);
  return std::any_of(names.begin(), names.end(), [this](const std::string& name) { return is_alive(name); });
}

bool NodeTasks::is_any_traced_alive() {
  const std::vector<std::string> names = list_directory(folder_);
  return std::any_of(names.begin(), names.end(), [this](const std::string& name) {
    return name.starts_with(run_layout::kTaskPrefix) && is_alive(name);
  });
}

void remove_deserted_node_folder(const std::string& folder) {
  const std::vector<std::string> names = list_directory(folder);
  for (const std::string& name : names) {
    if (const auto task = run_layout::plain_task_of(name)) {
      if (is_process_present(static_cast<pid_t>(task->pid), task->start_ticks)) return;
    }
    if (!name.starts_with(run_layout::kTaskPrefix)) continue;
    // Held until the file has lost its name: a task that takes it for its own just now sees that and makes another.
    const std::string file = folder + "/" + name;
    const auto lock = try_lock(file, Missing::kLeave);
    const bool is_gone = lock && !lock->is_held() && lock->holder < 0;
    if (!is_gone && (!lock || !lock->is_held())) return;
    unlink(file.c_str());
  }
  for (const std::string& name : names) unlink((folder + "/" + name).c_str());
  rmdir(folder.c_str());  // fails if a task has come in the meantime: it makes anew what it needs
}

}  // namespace jaxprof
