// One question to the kernel's RDMA subsystem and its answer. A seam: the real one is rdma_socket.h, tests answer with
// recorded bytes. Fields of the messages: include/uapi/rdma/rdma_netlink.h.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace jaxprof::netsampler {

struct RdmaRequest {
  std::uint16_t command = 0;  // RDMA_NLDEV_CMD_…
  bool is_dump = false;       // all there are, instead of one
  std::optional<std::uint32_t> device;
  std::optional<std::uint32_t> port;
};

struct RdmaReply {
  int error = 0;                             // errno; then there are no bytes
  std::span<const std::uint8_t> bytes = {};  // whole netlink messages; they live until the next question
};

class RdmaLink {
 public:
  virtual ~RdmaLink() = default;
  virtual RdmaReply ask(const RdmaRequest& request) = 0;
};

}  // namespace jaxprof::netsampler
