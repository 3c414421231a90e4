// One listing of all ports of the node, from sysfs and RDMA netlink together: in a container one of them may hide what
// the other shows, and only together do they say all there is to say of a port.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "netsampler/nic/found_port.h"
#include "netsampler/nic/rdma_link.h"

namespace jaxprof::netsampler {

struct Discovery {
  std::vector<FoundPort> ports;             // cards first, then network interfaces
  int rdma_error = 0;                       // errno of netlink's listing; 0: it answered
  std::vector<std::string> without_folder;  // as in SysfsCards
};

// Cards from sysfs, with netlink's number where it lists the same name, then those that netlink alone lists.
// `with_cards` false: network interfaces only. `kept`: names of interfaces that are sampled already, and so even while
// they are down.
Discovery discover_ports(const std::string& sysfs_root, RdmaLink* link, bool with_cards,
                         const std::set<std::string>& kept);

}  // namespace jaxprof::netsampler
