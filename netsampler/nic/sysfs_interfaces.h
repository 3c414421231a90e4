// The network interfaces worth sampling: what NCCL's sockets use, and what shows that a job fell back to them. RDMA
// traffic does not pass them, except that of software devices.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "netsampler/nic/found_port.h"

namespace jaxprof::netsampler {

// Those that are up and belong to a card, or whose name is in `wanted`. Where none belongs to a card, as in a container
// with a network of its own, all that are up but the loopback.
std::vector<FoundPort> list_interfaces(const std::string& sysfs_root, const std::set<std::string>& wanted);

}  // namespace jaxprof::netsampler
