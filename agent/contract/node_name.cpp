#include "agent/contract/node_name.h"

#include <unistd.h>

#include "agent/base/atomic_file.h"
#include "agent/base/text.h"
#include "agent/contract/fitted_name.h"

namespace jaxprof {

NodeName own_node_name() {
  NodeName node;
  char name[65] = {};
  gethostname(name, sizeof name - 1);
  char safe[65];
  TextBuffer host(safe, sizeof safe);
  append_file_name(&host, name);
  node.host = host.c_str();
  if (auto boot_id = read_small_file("/proc/sys/kernel/random/boot_id", 64)) {
    node.boot_id = boot_id->substr(0, boot_id->find('\n'));
  }
  return node;
}

}  // namespace jaxprof
