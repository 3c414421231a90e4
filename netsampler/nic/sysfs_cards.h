// The RDMA cards that sysfs lists, port by port, with what it says of them. Cards are known by their folders, never by
// their names, which a user may change.
#pragma once

#include <string>
#include <vector>

#include "netsampler/nic/found_port.h"

namespace jaxprof::netsampler {

struct SysfsCards {
  std::vector<FoundPort> ports;
  // Cards that are listed, but whose folder is not there: a container that has /sys/class without /sys/devices.
  std::vector<std::string> without_folder;
};

SysfsCards list_cards(const std::string& sysfs_root);

// What sysfs says of the device that `link`, a folder's `device`, leads to: its PCI address, driver and NUMA node.
void describe_device(const std::string& link, PortInfo* info);
// Of a folder; 0 if it is not there.
std::uint64_t inode_of(const std::string& folder);

}  // namespace jaxprof::netsampler
