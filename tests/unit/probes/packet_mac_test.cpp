#include "netsampler/clock/packet_mac.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

TEST(PacketMac, IsBlake2bWithTheKeyOfTokenAndRun) {
  // hashlib.blake2b(bytes(range(80)), digest_size=16,
  //                 key=hashlib.blake2b(b"7.0.0", key=bytes(range(32)), digest_size=32).digest())
  const std::vector<std::uint8_t> expected = {0x32, 0xdc, 0x52, 0xce, 0xc3, 0x38, 0x32, 0xca,
                                              0x21, 0x1c, 0x62, 0x99, 0x00, 0xa6, 0x14, 0x5a};
  PacketBytes bytes{};
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  test::sample_mac().seal(&bytes);
  EXPECT_EQ(std::vector<std::uint8_t>(bytes.end() - kMacBytes, bytes.end()), expected);
}

TEST(PacketMac, EveryBitCounts) {
  const PacketBytes bytes = test::sealed(test::sample_request(1, 2, 3));
  EXPECT_TRUE(test::sample_mac().is_right(bytes));
  for (std::size_t bit = 0; bit < 8 * kPacketBytes; ++bit) {
    PacketBytes changed = bytes;
    changed[bit / 8] = static_cast<std::uint8_t>(changed[bit / 8] ^ (1U << bit % 8));
    EXPECT_FALSE(test::sample_mac().is_right(changed)) << "bit " << bit;
  }
}

TEST(PacketMac, AnotherTokenOrRunIsAnotherMac) {
  const PacketBytes bytes = test::sealed(test::sample_request(1, 2, 3));
  ClockToken other_token = test::sample_token();
  other_token.back() ^= 1;
  EXPECT_FALSE(PacketMac(other_token, test::kRunId).is_right(bytes));
  EXPECT_FALSE(PacketMac(test::sample_token(), "7.0.1").is_right(bytes));
  EXPECT_TRUE(PacketMac(test::sample_token(), test::kRunId).is_right(bytes));
}

}  // namespace
}  // namespace jaxprof::netsampler
