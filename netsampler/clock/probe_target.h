// Whose clock is asked.
#pragma once

#include <cstdint>

#include "netsampler/clock/peer_address.h"

namespace jaxprof::netsampler {

struct ProbeTarget {
  PeerAddress address;     // with the port of its server
  std::uint64_t node = 0;  // its clock_node_id()
  std::uint32_t peer = 0;  // spool::ProbeBurst::peer
};

}  // namespace jaxprof::netsampler
