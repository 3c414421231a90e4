// What lets a received packet through to client or server, and counts all that it drops; nobody is told. In the order
// of cost: its size, how much its sender has sent, its fixed fields, its MAC, whom it is for. Works on values.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "netsampler/clock/clock_token.h"
#include "netsampler/clock/packet_mac.h"
#include "netsampler/clock/peer_address.h"
#include "netsampler/clock/probe_counts.h"
#include "netsampler/clock/probe_packet.h"
#include "netsampler/clock/source_limit.h"

namespace jaxprof::netsampler {

class PacketFilter {
 public:
  // `own_node` is the clock_node_id() of this node. `mac` and `counts` outlive the filter.
  PacketFilter(const PacketMac& mac, std::uint64_t own_node, ProbeCounts* counts)
      : mac_(mac), own_node_(own_node), counts_(counts) {}

  // `bytes` as received at `now_ns` of one clock; of a packet that was longer at least kPacketBytes + 1 of them.
  std::optional<ProbePacket> admit(std::span<const std::uint8_t> bytes, const PeerAddress& source, std::int64_t now_ns);

 private:
  const PacketMac& mac_;
  std::uint64_t own_node_;
  ProbeCounts* counts_;
  SourceLimit limit_;
};

}  // namespace jaxprof::netsampler
