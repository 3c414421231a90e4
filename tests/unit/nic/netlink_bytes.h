// Answers of the kernel's RDMA netlink, as it puts them together (drivers/infiniband/core/nldev.c). Numbers and layout
// are written down here a second time, so that a mistake in what reads them is not made here as well: 15 counters of
// rxe0 take 588 bytes and 22 of rdmap16s0 take 860, as was seen on a running kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace jaxprof::test {

using NicCounters = std::vector<std::pair<std::string, std::uint64_t>>;

struct AnsweredPort {
  std::uint32_t number = 1;
  NicCounters counters;  // none: "no such thing", as of a driver that counts nothing
  std::string netdev;
  bool is_active = true;
  int error = 0;  // of a question for its counters
};

struct AnsweredDevice {
  std::uint32_t index = 0;
  std::string name;
  std::uint64_t guid = 0;
  std::vector<AnsweredPort> ports;
};

enum NldevCommand : std::uint16_t { kGet = 1, kPortGet = 5, kStatGet = 17 };

using Octets = std::vector<std::uint8_t>;

Octets answer_devices(const std::vector<AnsweredDevice>& devices);  // with the end of the dump
Octets answer_ports(const AnsweredDevice& device);                  // with the end of the dump
Octets answer_counters(const AnsweredDevice& device, const AnsweredPort& port);
Octets answer_error(int error);

}  // namespace jaxprof::test
