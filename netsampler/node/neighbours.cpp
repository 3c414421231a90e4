#include "netsampler/node/neighbours.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/base/file_lock.h"
#include "agent/contract/node_tasks.h"
#include "agent/contract/run_layout.h"

namespace jaxprof::netsampler {
namespace {

constexpr const char* kOwnName = "jaxprof-netsamp\n";  // as the kernel cuts it (TASK_COMM_LEN)

bool is_observer_of(const std::string& process, uid_t user) {
  struct stat status {};
  if (stat(process.c_str(), &status) != 0 || status.st_uid != user) return false;
  const auto name = read_small_file(process + "/comm", 64);
  return name && *name == kOwnName;
}

bool has_observer(uid_t user) {
  const auto names = list_directory("/proc");
  return std::any_of(names.begin(), names.end(), [user](const std::string& name) {
    return name.find_first_not_of("0123456789") == std::string::npos && is_observer_of("/proc/" + name, user);
  });
}

struct NodeFolder {
  std::string path;
  uid_t user = 0;
};

// Those of other runs.
std::vector<NodeFolder> folders_beside(const std::string& node_folder) {
  const std::filesystem::path own(node_folder);
  const std::string base = own.parent_path().string();
  const std::string own_name = own.filename().string();
  std::vector<NodeFolder> others;
  for (const std::string& name : list_directory(base)) {
    const auto user = run_layout::user_of_node_folder(name);
    if (user && name != own_name) others.push_back({base + "/" + name, *user});
  }
  return others;
}

bool is_observed(const std::string& folder, uid_t user) {
  const std::string file = run_layout::node_observer_path(folder);
  struct stat status {};
  if (lstat(file.c_str(), &status) != 0) return errno == EACCES && has_observer(user);
  return is_locked_by_other(file);
}

}  // namespace

bool has_neighbour(const std::string& node_folder) {
  const auto others = folders_beside(node_folder);
  return std::any_of(others.begin(), others.end(),
                     [](const NodeFolder& other) { return is_observed(other.path, other.user); });
}

void remove_deserted_neighbours(const std::string& node_folder) {
  for (const NodeFolder& other : folders_beside(node_folder)) {
    if (other.user != geteuid() || is_observed(other.path, other.user)) continue;
    remove_deserted_node_folder(other.path);
  }
}

}  // namespace jaxprof::netsampler
