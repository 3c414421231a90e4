#include "netsampler/clock/sent_packets.h"

#include <gtest/gtest.h>

namespace jaxprof::netsampler {
namespace {

SentPacket packet(std::uint16_t sequence) {
  return {PacketType::kRequest, 9, 3, sequence};
}

TEST(SentPackets, AStampBelongsToThePacketOfItsNumber) {
  SentPackets sent;
  EXPECT_FALSE(sent.is_waiting());
  sent.note(packet(0), 100);
  sent.note(packet(1), 200);
  sent.note(packet(2), 300);
  EXPECT_EQ(sent.pair(2, 350), packet(2)) << "in any order";
  EXPECT_EQ(sent.pair(0, 100), packet(0));
  EXPECT_TRUE(sent.is_waiting());
  EXPECT_EQ(sent.pair(1, 201), packet(1));
  EXPECT_FALSE(sent.is_waiting());
}

TEST(SentPackets, AStampCountsOnce) {
  SentPackets sent;
  sent.note(packet(0), 100);
  EXPECT_TRUE(sent.pair(0, 150));
  EXPECT_FALSE(sent.pair(0, 150));
}

TEST(SentPackets, NumbersOfNothingSentArePairedWithNothing) {
  SentPackets sent;
  EXPECT_FALSE(sent.pair(0, 150));
  sent.note(packet(0), 100);
  for (const std::uint32_t number : {1U, 63U, 64U, 128U, 0xffffffffU}) EXPECT_FALSE(sent.pair(number, 150)) << number;
  EXPECT_TRUE(sent.is_waiting());
}

TEST(SentPackets, AStampOlderThanItsPacketIsAnother) {
  SentPackets sent;
  sent.note(packet(0), 100);
  EXPECT_FALSE(sent.pair(0, 99));
  EXPECT_TRUE(sent.pair(0, 100));
}

TEST(SentPackets, OnlyTheLast64AreKept) {
  SentPackets sent;
  for (std::uint16_t i = 0; i < 100; ++i) sent.note(packet(i), i);
  for (std::uint32_t i = 0; i < 36; ++i) EXPECT_FALSE(sent.pair(i, 1000)) << i;
  for (std::uint16_t i = 36; i < 100; ++i) EXPECT_EQ(sent.pair(i, 1000), packet(i));
  EXPECT_FALSE(sent.is_waiting());
}

TEST(SentPackets, ARestartForgetsAllAndCountsFromZero) {
  SentPackets sent;
  sent.note(packet(0), 100);
  sent.note(packet(1), 100);
  sent.restart();
  EXPECT_FALSE(sent.is_waiting());
  EXPECT_FALSE(sent.pair(1, 200));
  sent.note(packet(7), 300);
  EXPECT_EQ(sent.pair(0, 300), packet(7));
}

}  // namespace
}  // namespace jaxprof::netsampler
