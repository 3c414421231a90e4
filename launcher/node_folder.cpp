#include "launcher/node_folder.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "agent/contract/node_tasks.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::launcher {
namespace {

constexpr int kAttempts = 10;

}  // namespace

bool make_node_folder(const std::string& path, uid_t uid) {
  // The observer of another run on the node takes a folder without tasks for a dead run's, and this one has none yet.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) return false;
    struct stat status {};
    if (lstat(path.c_str(), &status) == 0) return S_ISDIR(status.st_mode) && status.st_uid == uid;
    if (errno != ENOENT) return false;
  }
  return false;
}

std::optional<NodeFolder> NodeFolder::join(const std::string& path, uid_t uid, pid_t pid) {
  const std::string own_file = run_layout::node_task_path(path, pid);
  // The last of the others may be taking the folder away just now, or the new file for a dead task's.
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
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
