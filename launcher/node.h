// What a wrapper is on: the node's name and boot, and this process's number.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace jaxprof::launcher {

struct Node {
  std::string host;     // as a file name: unusual characters are '_'
  std::string boot_id;  // of /proc/sys/kernel/random/boot_id, "" if it cannot be read
  pid_t pid = 0;
  uid_t uid = 0;
  std::uint64_t start_ticks = 0;  // of this process, since boot: in containers one pid comes back
  std::string mpiexec{};          // hydra_proxy.h; "" where hydra has not started this process
};

Node this_node();

}  // namespace jaxprof::launcher
