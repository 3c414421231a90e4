#include "launcher/node.h"

#include <unistd.h>

#include "agent/base/atomic_file.h"
#include "agent/base/text.h"
#include "agent/contract/fitted_name.h"
#include "agent/contract/session_page.h"

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
  node.start_ticks = process_start_ticks(node.pid);
  return node;
}

}  // namespace jaxprof::launcher
