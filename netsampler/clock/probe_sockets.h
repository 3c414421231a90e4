// The sockets of a node: one that all others send to, and up to four for own bursts in turn. Switches choose among
// equal paths by the ports, so that bursts from one port all have one path's delays; four show how paths differ.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/base/result.h"
#include "netsampler/clock/stamped_socket.h"

namespace jaxprof::netsampler {

// UDP ports to take one of, ends included; 0 to 0: any that is free.
struct PortRange {
  std::uint16_t low = 0;
  std::uint16_t high = 0;
};

// The server's first. The others are of the range as well, as firewalls may want it; where it has no more free ones
// there are fewer. kNodeNotReady with the reason if there is none at all.
Result<std::vector<StampedSocket>> open_probe_sockets(const PeerAddress& bind, const PortRange& ports,
                                                      bool wants_stamps, const RawClock& raw_ns);

// Which of `n_sockets` a burst uses: the server's only if it is the only one.
std::size_t socket_of_burst(std::uint32_t burst, std::size_t n_sockets);

}  // namespace jaxprof::netsampler
