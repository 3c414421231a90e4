#include "netsampler/clock/packet_filter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

class PacketFilterTest : public testing::Test {
 protected:
  std::optional<ProbePacket> admit(std::span<const std::uint8_t> bytes, std::int64_t now_ns = 0) {
    return filter_.admit(bytes, test::sample_address(), now_ns);
  }

  ProbeCounts counts_;
  PacketFilter filter_{test::sample_mac(), test::kServerNode, &counts_};
};

TEST_F(PacketFilterTest, ARightPacketPasses) {
  const ProbePacket request = test::sample_request(1, 2, 3);
  EXPECT_EQ(admit(test::sealed(request)), request);
  EXPECT_EQ(counts_.received, 1U);
  EXPECT_EQ(counts_.wrong_size + counts_.wrong_mac + counts_.wrong_node + counts_.rate_limited, 0U);
}

TEST_F(PacketFilterTest, ShortAndLongPacketsAreCounted) {
  const PacketBytes right = test::sealed(test::sample_request(1, 2, 3));
  std::vector<std::uint8_t> bytes(right.begin(), right.end());
  bytes.resize(97);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    if (size == kPacketBytes) continue;
    EXPECT_FALSE(admit({bytes.data(), size})) << size;
  }
  EXPECT_EQ(counts_.wrong_size, 97U);
  EXPECT_EQ(counts_.received, 97U);
}

TEST_F(PacketFilterTest, WhatTheTokenDidNotMakeIsCounted) {
  PacketBytes bytes = encode_packet(test::sample_request(1, 2, 3));
  EXPECT_FALSE(admit(bytes)) << "no MAC";
  PacketMac(test::sample_token(), "8.0.0").seal(&bytes);
  EXPECT_FALSE(admit(bytes)) << "another run";
  PacketMac(ClockToken{}, test::kRunId).seal(&bytes);
  EXPECT_FALSE(admit(bytes)) << "another token";
  EXPECT_EQ(counts_.wrong_mac, 3U);
}

TEST_F(PacketFilterTest, ARightMacOfAWrongLayoutIsCounted) {
  for (const std::size_t at : {0U, 4U, 5U, 6U}) {
    PacketBytes bytes = encode_packet(test::sample_request(1, 2, 3));
    bytes[at] = 0xff;
    test::sample_mac().seal(&bytes);
    EXPECT_FALSE(admit(bytes));
  }
  EXPECT_EQ(counts_.wrong_mac, 4U);
}

TEST_F(PacketFilterTest, PacketsForOthersAndReflectedOnesAreCounted) {
  ProbePacket packet = test::sample_request(1, 2, 3);
  packet.destination = test::kServerNode + 1;
  EXPECT_FALSE(admit(test::sealed(packet)));
  packet.destination = test::kServerNode;
  packet.source = test::kServerNode;
  EXPECT_FALSE(admit(test::sealed(packet)));
  EXPECT_EQ(counts_.wrong_node, 2U);
}

TEST_F(PacketFilterTest, AFloodIsReadNoFurtherThanItsSize) {
  const PacketBytes wrong = encode_packet(test::sample_request(1, 2, 3));
  for (int i = 0; i < 10'000; ++i) EXPECT_FALSE(admit(wrong, 1000));
  EXPECT_EQ(counts_.wrong_mac, 2000U);
  EXPECT_EQ(counts_.rate_limited, 8000U);
  EXPECT_FALSE(admit(test::sealed(test::sample_request(1, 2, 3)), 1000)) << "the same sender's right ones neither";
  EXPECT_TRUE(filter_.admit(test::sealed(test::sample_request(1, 2, 3)), test::sample_address("fd00::5"), 1000) ||
              filter_.admit(test::sealed(test::sample_request(1, 2, 3)), test::sample_address("fd00::6"), 1000));
}

TEST_F(PacketFilterTest, RandomBytesNeverPass) {
  std::mt19937 random(7);
  std::vector<std::uint8_t> bytes(97);
  for (int i = 0; i < 50'000; ++i) {
    for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random());
    const std::size_t size = i % 2 == 0 ? kPacketBytes : random() % 98;
    EXPECT_FALSE(admit({bytes.data(), size}, i * 1'000'000LL));
  }
  EXPECT_EQ(counts_.wrong_size + counts_.wrong_mac, 50'000U);
}

}  // namespace
}  // namespace jaxprof::netsampler
