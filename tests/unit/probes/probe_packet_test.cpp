#include "netsampler/clock/probe_packet.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

ProbePacket full_packet() {
  ProbePacket packet;
  packet.type = PacketType::kReply;
  packet.source = 0x0102030405060708;
  packet.destination = 0x1112131415161718;
  packet.burst = 0x21222324;
  packet.sequence = 0x3132;
  packet.previous = 0x4142;
  packet.nonce = 0x5152535455565758;
  packet.client_raw_ns = 0x6162636465666768;
  packet.server_receive_raw_ns = -2;
  packet.server_receive_wall_ns = spool::kNoStamp;
  packet.server_send_raw_ns = 0x7172737475767778;
  packet.previous_send_wall_ns = 1;
  return packet;
}

TEST(ProbePacket, HasItsLayout) {
  const std::vector<std::uint8_t> expected = {
      'J',  'C',  'L',  'K',  1,    2,    0,    0,                                                     // magic to zeros
      0x08, 0x07, 0x06, 0x05, 0x04, 0x03, 0x02, 0x01, 0x18, 0x17, 0x16, 0x15, 0x14, 0x13, 0x12, 0x11,  // nodes
      0x24, 0x23, 0x22, 0x21, 0x32, 0x31, 0x42, 0x41,  // burst, sequences
      0x58, 0x57, 0x56, 0x55, 0x54, 0x53, 0x52, 0x51, 0x68, 0x67, 0x66, 0x65, 0x64, 0x63, 0x62, 0x61,  // nonce, client
      0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0,    0,    0,    0,    0,    0,    0,    0x80,  // received
      0x78, 0x77, 0x76, 0x75, 0x74, 0x73, 0x72, 0x71, 1,    0,    0,    0,    0,    0,    0,    0,     // sent
      0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,    0,     // no MAC yet
  };
  const PacketBytes bytes = encode_packet(full_packet());
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.begin(), bytes.end()), expected);
  EXPECT_EQ(decode_packet(bytes), full_packet());
}

TEST(ProbePacket, AllSizesButOneAreRefused) {
  const PacketBytes bytes = encode_packet(full_packet());
  std::vector<std::uint8_t> longer(bytes.begin(), bytes.end());
  longer.resize(200);
  for (std::size_t size = 0; size <= longer.size(); ++size) {
    EXPECT_EQ(decode_packet({longer.data(), size}).has_value(), size == kPacketBytes) << size;
  }
}

TEST(ProbePacket, AnotherMagicVersionTypeOrReservedByteIsRefused) {
  for (const std::size_t at : {0U, 1U, 2U, 3U, 4U, 6U, 7U}) {
    PacketBytes bytes = encode_packet(full_packet());
    bytes[at] ^= 1;
    EXPECT_FALSE(decode_packet(bytes)) << "byte " << at;
  }
  for (int type = 0; type < 256; ++type) {
    PacketBytes bytes = encode_packet(full_packet());
    bytes[5] = static_cast<std::uint8_t>(type);
    EXPECT_EQ(decode_packet(bytes).has_value(), type >= 1 && type <= 4) << type;
  }
}

TEST(ProbePacket, WhatDecodesIsEncodedToTheSameBytes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2000; ++i) {
    PacketBytes bytes = encode_packet(full_packet());
    for (std::size_t at = 8; at < kPacketBytes - kMacBytes; ++at) bytes[at] = static_cast<std::uint8_t>(random());
    bytes[5] = static_cast<std::uint8_t>(1 + random() % 4);
    const auto packet = decode_packet(bytes);
    ASSERT_TRUE(packet);
    EXPECT_EQ(encode_packet(*packet), bytes);
  }
}

}  // namespace
}  // namespace jaxprof::netsampler
