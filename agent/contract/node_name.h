// How a node is named in records, spools and file names: its host name and its boot. Tools only; the agent is told both
// by its wrapper.
#pragma once

#include <string>

namespace jaxprof {

struct NodeName {
  std::string host;     // as a file name: unusual characters are '_'
  std::string boot_id;  // of /proc/sys/kernel/random/boot_id, "" if it cannot be read
};

NodeName own_node_name();

}  // namespace jaxprof
