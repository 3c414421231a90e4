#include "launcher/node.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include "agent/base/atomic_file.h"
#include "agent/base/text.h"
#include "agent/contract/rank_identity.h"

namespace jaxprof::launcher {

Node this_node() {
  Node node;
  char name[65] = {};
  gethostname(name, sizeof name - 1);
  char safe[65];
  TextBuffer host(safe, sizeof safe);
  append_file_name(&host, name);
  node.host = host.c_str();
  if (auto boot_id = read_small_file("/proc/sys/kernel/random/boot_id", 64)) {
    node.boot_id = boot_id->substr(0, boot_id->find('\n'));
  }
  node.pid = getpid();
  node.uid = getuid();
  return node;
}

std::string spool_base(const std::string& given, const Env& env) {
  if (!given.empty()) return given;
  for (const char* variable : {"JAXPROF_TMPDIR", "SLURM_TMPDIR", "TMPDIR"}) {
    if (const char* value = env.get(variable); value != nullptr && *value != '\0') return value;
  }
  return "/tmp";
}

std::int64_t free_bytes(const std::string& path) {
  struct statvfs status {};
  if (statvfs(path.c_str(), &status) != 0) return -1;
  return static_cast<std::int64_t>(status.f_bavail) * static_cast<std::int64_t>(status.f_frsize);
}

}  // namespace jaxprof::launcher
