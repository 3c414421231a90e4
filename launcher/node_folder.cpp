#include "launcher/node_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::launcher {

bool make_node_folder(const std::string& path, uid_t uid) {
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
  struct stat status {};
  return lstat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == uid;
}

void remove_deserted_node_folder(const std::string& path) {
  const std::vector<std::string> names = list_directory(path);
  for (const std::string& name : names) {
    if (!name.starts_with(run_layout::kTaskPrefix)) continue;
    const std::string file = path + "/" + name;
    const auto lock = try_lock(file, Missing::kLeave);
    const bool is_gone = lock && !lock->is_held() && lock->holder < 0;
    if (!is_gone && (!lock || !lock->is_held())) return;
    unlink(file.c_str());
  }
  for (const std::string& name : names) unlink((path + "/" + name).c_str());
  rmdir(path.c_str());  // fails if a task has come in the meantime: it makes anew what it needs
}

std::optional<NodeFolder> NodeFolder::join(const std::string& path, uid_t uid, pid_t pid) {
  const std::string own_file = run_layout::node_task_path(path, pid);
  // The last of the others may be taking the folder away just now, or the new file for a dead task's.
  for (int attempt = 0; attempt < 10; ++attempt) {
    if (!make_node_folder(path, uid)) return std::nullopt;
    auto lock = try_lock(own_file, Missing::kCreate);
    if (lock && lock->is_held()) return NodeFolder(path, own_file, std::move(*lock));
  }
  return std::nullopt;
}

NodeFolder::NodeFolder(std::string path, std::string own_file, FileLock lock)
    : path_(std::move(path)), own_file_(std::move(own_file)), lock_(std::move(lock)) {}

void NodeFolder::leave() {
  unlink(own_file_.c_str());
  lock_.fd.reset();
  remove_deserted_node_folder(path_);
}

}  // namespace jaxprof::launcher
