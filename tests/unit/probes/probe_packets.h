// A run of two nodes for tests of probes: its token, its nodes' numbers, and packets as they send them.
#pragma once

#include <cstdint>

#include "netsampler/clock/clock_token.h"
#include "netsampler/clock/packet_mac.h"
#include "netsampler/clock/peer_address.h"
#include "netsampler/clock/probe_packet.h"

namespace jaxprof::test {

inline constexpr std::uint64_t kClientNode = 0x1111;
inline constexpr std::uint64_t kServerNode = 0x2222;
inline constexpr const char* kRunId = "7.0.0";

inline netsampler::ClockToken sample_token() {
  netsampler::ClockToken token{};
  for (std::size_t i = 0; i < token.size(); ++i) token[i] = static_cast<std::uint8_t>(i);
  return token;
}

inline const netsampler::PacketMac& sample_mac() {
  static const netsampler::PacketMac mac(sample_token(), kRunId);
  return mac;
}

inline netsampler::PacketBytes sealed(const netsampler::ProbePacket& packet) {
  netsampler::PacketBytes bytes = netsampler::encode_packet(packet);
  sample_mac().seal(&bytes);
  return bytes;
}

// Of the client to the server; a later request has a greater `client_raw_ns`.
inline netsampler::ProbePacket sample_request(std::uint32_t burst, std::uint16_t sequence, std::int64_t client_raw_ns) {
  netsampler::ProbePacket request;
  request.source = kClientNode;
  request.destination = kServerNode;
  request.burst = burst;
  request.sequence = sequence;
  request.nonce = 0xabcd'0000U + sequence;
  request.client_raw_ns = client_raw_ns;
  return request;
}

inline netsampler::ProbePacket sample_reply(const netsampler::ProbePacket& question) {
  netsampler::ProbePacket reply = question;
  reply.type = netsampler::reply_type(question.type);
  reply.source = question.destination;
  reply.destination = question.source;
  reply.server_receive_raw_ns = question.client_raw_ns + 100;
  reply.server_receive_wall_ns = question.client_raw_ns + 90;
  reply.server_send_raw_ns = question.client_raw_ns + 200;
  return reply;
}

inline netsampler::PeerAddress sample_address(const char* literal = "10.0.0.1") {
  return *netsampler::parse_address(literal, 4000);
}

}  // namespace jaxprof::test
