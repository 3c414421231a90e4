// The kernel's answers over RDMA netlink, as values. Every length in them is checked against the bytes that are there,
// and attributes that are not known are passed over: newer kernels have more. Pure; netlink's byte order is the
// machine's own.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace jaxprof::netsampler {

struct RdmaDevice {
  std::uint32_t index = 0;  // lives as long as the device: one that returns has another
  std::string name;
  std::string guid;              // as sysfs prints it: 0123:4567:89ab:cdef
  std::uint32_t port_count = 0;  // ports count from 1
};

struct RdmaPort {
  std::uint32_t port = 0;
  std::string netdev;  // "" if it has none, or one of another network namespace
  bool is_active = false;
};

// A counter of a port. The name lives as long as the bytes it was read from.
struct RdmaCounter {
  std::string_view name;
  std::uint64_t value = 0;
};

using NetlinkBytes = std::span<const std::uint8_t>;

// errno that the first message of the answer carries; 0 if it is no error. Answers too short to be one give EBADMSG.
int find_netlink_error(NetlinkBytes bytes);
// True if the message that ends a dump is among them.
bool is_end_of_dump(NetlinkBytes bytes);

std::vector<RdmaDevice> parse_rdma_devices(NetlinkBytes bytes);
std::vector<RdmaPort> parse_rdma_ports(NetlinkBytes bytes);
// All counters of the first answer, in the driver's order, into `counters`, which keeps its memory. False if it has
// none.
bool parse_rdma_counters(NetlinkBytes bytes, std::vector<RdmaCounter>* counters);

}  // namespace jaxprof::netsampler
