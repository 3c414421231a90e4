// A port as a listing finds it: what it is, and where its counters may lie. Nothing in here was read twice; whether the
// counters can be read is seen by reading them (port_reader.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "netsampler/nic/port.h"

namespace jaxprof::netsampler {

struct FoundPort {
  PortInfo info;                             // without source, reason and periods
  std::string folder;                        // in sysfs: …/ports/1, or that of the network interface; "" not there
  std::string device_folder;                 // of the card, if this is its first port; "" otherwise
  std::optional<std::uint32_t> rdma_device;  // netlink's number of the card
  std::uint64_t inode = 0;                   // of `folder`: a device that was made anew has another

  // True if it is another life of the port: open files are dead, and counters began anew. What one of the two listings
  // does not tell makes no other life.
  bool is_other_instance(const FoundPort& before) const {
    return (rdma_device && before.rdma_device && rdma_device != before.rdma_device) ||
           (inode != 0 && before.inode != 0 && inode != before.inode);
  }
};

// For each of `found` the number in `known` of the port that it is, or none. By PCI address, port and guid, or where
// there is no PCI address, by network interface, port and guid; what is then left on both sides, by PCI address and
// port, or by name and port. No two get the same. Pure.
std::vector<std::optional<std::size_t>> recognize_ports(const std::vector<FoundPort>& found,
                                                        const std::vector<FoundPort>& known);

}  // namespace jaxprof::netsampler
