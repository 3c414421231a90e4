#include "netsampler/clock/packet_filter.h"

#include <algorithm>

namespace jaxprof::netsampler {

std::optional<ProbePacket> PacketFilter::admit(std::span<const std::uint8_t> bytes, const PeerAddress& source,
                                               std::int64_t now_ns) {
  ++counts_->received;
  if (bytes.size() != kPacketBytes) {
    ++counts_->wrong_size;
    return std::nullopt;
  }
  if (!limit_.admits(source, now_ns)) {
    ++counts_->rate_limited;
    return std::nullopt;
  }
  const auto packet = decode_packet(bytes);
  PacketBytes whole{};
  std::copy(bytes.begin(), bytes.end(), whole.begin());
  if (!packet || !mac_.is_right(whole)) {
    ++counts_->wrong_mac;
    return std::nullopt;
  }
  if (packet->destination != own_node_ || packet->source == own_node_) {
    ++counts_->wrong_node;
    return std::nullopt;
  }
  return packet;
}

}  // namespace jaxprof::netsampler
