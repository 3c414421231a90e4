#include "launcher/node.h"

#include <unistd.h>

#include <utility>

#include "agent/contract/node_name.h"
#include "agent/contract/session_page.h"

namespace jaxprof::launcher {

Node this_node() {
  NodeName name = own_node_name();
  Node node;
  node.host = std::move(name.host);
  node.boot_id = std::move(name.boot_id);
  node.pid = getpid();
  node.uid = getuid();
  node.start_ticks = process_start_ticks(node.pid);
  return node;
}

}  // namespace jaxprof::launcher
