// An answer of the kernel's RDMA netlink: devices, ports, counters, errors.
#include <vector>

#include "netsampler/nic/rdma_reply.h"
#include "tests/fuzz/planted_fault.h"

using namespace jaxprof;
using namespace jaxprof::netsampler;

namespace {

bool lies_in(std::string_view text, NetlinkBytes bytes) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data());
  return text.data() >= begin && text.data() + text.size() <= begin + bytes.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // As long as it is, and where a number may lie.
  const std::vector<std::uint8_t> bytes(data, data + size);
  const int error = find_netlink_error(bytes);
  fuzz::demand(error >= 0 && error < 4096, "an errno is small");
  is_end_of_dump(bytes);
  for (const RdmaDevice& device : parse_rdma_devices(bytes)) {
    fuzz::demand(device.name.size() < size && device.guid.size() <= 19, "a device is within its answer");
  }
  for (const RdmaPort& port : parse_rdma_ports(bytes)) {
    fuzz::demand(port.netdev.size() < size, "a port is within its answer");
  }
  std::vector<RdmaCounter> counters;
  const bool has_counters = parse_rdma_counters(bytes, &counters);
  fuzz::demand(has_counters != counters.empty(), "an answer has counters or has none");
  fuzz::demand(counters.size() <= size / 16, "a counter takes its bytes");
  for (const RdmaCounter& counter : counters) {
    fuzz::plant_fault(counter.value >> 56U != 0);
    fuzz::demand(!counter.name.empty() && lies_in(counter.name, bytes), "a name lies in its answer");
  }
  return 0;
}
