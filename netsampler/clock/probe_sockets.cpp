#include "netsampler/clock/probe_sockets.h"

#include <optional>
#include <string>
#include <utility>

namespace jaxprof::netsampler {
namespace {

constexpr std::size_t kMostSockets = 1 + 4;

std::string words_of_taken(const PortRange& ports) {
  const std::string low = std::to_string(ports.low);
  if (ports.low == ports.high) return "UDP port " + low + " is taken";
  return "UDP ports " + low + " to " + std::to_string(ports.high) + " are all taken";
}

}  // namespace

Result<std::vector<StampedSocket>> open_probe_sockets(const PeerAddress& bind, const PortRange& ports,
                                                      bool wants_stamps, const RawClock& raw_ns) {
  std::vector<StampedSocket> sockets;
  PeerAddress address = bind;
  const bool is_any_port = ports.low == 0 && ports.high == 0;
  for (std::uint32_t port = ports.low; sockets.size() < kMostSockets && port <= ports.high;) {
    address.port = static_cast<std::uint16_t>(port);
    auto socket = StampedSocket::open(address, wants_stamps, raw_ns);
    if (!socket) {
      if (sockets.empty()) return tl::unexpected(std::move(socket.error()));
      break;
    }
    if (*socket) sockets.push_back(std::move(**socket));
    if (!is_any_port) ++port;
  }
  if (!sockets.empty()) return sockets;
  return fail(ErrorCode::kNodeNotReady, "clock probes: " + words_of_taken(ports) + " on " + bind.literal());
}

std::size_t socket_of_burst(std::uint32_t burst, std::size_t n_sockets) {
  return n_sockets == 1 ? 0 : 1 + burst % (n_sockets - 1);
}

}  // namespace jaxprof::netsampler
