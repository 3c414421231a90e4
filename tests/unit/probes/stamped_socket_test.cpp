// On the loop-back interface, where every kernel has stamps. What is waited for comes in microseconds; the limits are
// there so that a failure ends.
#include "netsampler/clock/stamped_socket.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <vector>

#include "agent/base/clocks.h"
#include "agent/spool/clock_record.h"
#include "netsampler/clock/own_stamps.h"
#include "netsampler/clock/probe_sockets.h"

namespace jaxprof::netsampler {
namespace {

std::int64_t raw_now_ns() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

StampedSocket open_socket(const char* literal, bool wants_stamps = true) {
  auto socket = StampedSocket::open(*parse_address(literal, 0), wants_stamps, raw_now_ns);
  if (!socket || !*socket) throw std::runtime_error(socket ? "port taken" : socket.error().message);
  return std::move(**socket);
}

bool wait_for(const StampedSocket& socket, short events) {
  pollfd fd{socket.fd(), events, 0};
  return poll(&fd, 1, 10'000) == 1;
}

PacketBytes bytes_of(std::uint8_t value) {
  PacketBytes bytes;
  bytes.fill(value);
  return bytes;
}

SentPacket sent(std::uint16_t sequence) {
  return {PacketType::kRequest, 1, 2, sequence};
}

struct Stamped {
  std::uint16_t sequence;
  std::int64_t wall_ns;
};

// All stamps that the socket waits for.
std::vector<Stamped> read_all(StampedSocket* socket) {
  std::vector<Stamped> stamps;
  while (socket->is_waiting() && wait_for(*socket, 0)) {
    EXPECT_EQ(socket->read_stamps([&stamps](const SentPacket& packet, std::int64_t wall_ns) {
      stamps.push_back({packet.sequence, wall_ns});
    }),
              0U);
  }
  return stamps;
}

class OnLoopback : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!StampedSocket::open(*parse_address(GetParam(), 0), true, raw_now_ns)) {
      GTEST_SKIP() << "no address " << GetParam() << " here";
    }
  }
};

TEST_P(OnLoopback, BothEndsOfAPacketAreStampedByKernelAndProgram) {
  StampedSocket from = open_socket(GetParam());
  StampedSocket to = open_socket(GetParam());
  find_own_stamps(&from);  // until the kernel has begun to stamp what comes in
  const std::int64_t wall_before_ns = clock_ns(CLOCK_REALTIME);
  const std::int64_t raw_before_ns = raw_now_ns();
  ASSERT_TRUE(from.send(bytes_of(7), to.own_address(), {}, sent(0)));
  ASSERT_TRUE(wait_for(to, POLLIN));
  ReceivedPacket packet;
  ASSERT_TRUE(to.receive(&packet));
  const auto stamps = read_all(&from);
  const std::int64_t wall_after_ns = clock_ns(CLOCK_REALTIME);
  EXPECT_EQ(packet.n_bytes, kPacketBytes);
  EXPECT_EQ(packet.bytes[95], 7);
  EXPECT_EQ(packet.source, from.own_address());
  ASSERT_EQ(stamps.size(), 1U);
  EXPECT_LE(wall_before_ns, stamps[0].wall_ns);
  EXPECT_LE(stamps[0].wall_ns, packet.wall_ns);
  EXPECT_LE(packet.wall_ns, wall_after_ns);
  EXPECT_LE(raw_before_ns, packet.raw_ns);
  EXPECT_LE(packet.raw_ns, raw_now_ns());
  EXPECT_EQ(from.stamps(), spool::kStampReceive | spool::kStampSend);
  EXPECT_EQ(to.stamps(), spool::kStampReceive);
  EXPECT_FALSE(to.receive(&packet)) << "and never waits";
}

TEST_P(OnLoopback, AHundredStampsAreEachOfTheirPacket) {
  StampedSocket from = open_socket(GetParam());
  StampedSocket to = open_socket(GetParam());
  ReceivedPacket packet;
  for (std::uint16_t i = 0; i < 100; ++i) {
    const std::int64_t before_ns = clock_ns(CLOCK_REALTIME);
    ASSERT_TRUE(from.send(bytes_of(1), to.own_address(), {}, sent(i)));
    const auto stamps = read_all(&from);
    ASSERT_EQ(stamps.size(), 1U);
    EXPECT_EQ(stamps[0].sequence, i);
    EXPECT_GE(stamps[0].wall_ns, before_ns);
    EXPECT_FALSE(from.is_waiting());
    ASSERT_TRUE(wait_for(to, POLLIN));
    ASSERT_TRUE(to.receive(&packet));
  }
}

TEST_P(OnLoopback, TheLengthOfALongPacketIsCutAndSeen) {
  StampedSocket to = open_socket(GetParam());
  const UniqueFd from(socket(to.own_address().is_v4() ? AF_INET : AF_INET6, SOCK_DGRAM, 0));
  sockaddr_in6 v6 = to.own_address().to_socket_address();
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = v6.sin6_port;
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const bool is_v4 = to.own_address().is_v4();
  const std::vector<char> content(5000, 'x');
  ReceivedPacket packet;
  for (const std::size_t size : {0UL, 1UL, 95UL, 97UL, 5000UL}) {
    ASSERT_EQ(sendto(from.get(), content.data(), size, 0,
                     is_v4 ? reinterpret_cast<sockaddr*>(&v4) : reinterpret_cast<sockaddr*>(&v6),
                     is_v4 ? sizeof v4 : sizeof v6),
              static_cast<ssize_t>(size));
    ASSERT_TRUE(wait_for(to, POLLIN));
    ASSERT_TRUE(to.receive(&packet));
    EXPECT_EQ(packet.n_bytes, std::min<std::size_t>(size, kPacketBytes + 1));
  }
}

TEST_P(OnLoopback, APacketToItselfTellsWhichStampsThereAre) {
  StampedSocket socket = open_socket(GetParam());
  EXPECT_EQ(socket.stamps(), 0U);
  find_own_stamps(&socket);
  EXPECT_EQ(socket.stamps(), spool::kStampReceive | spool::kStampSend);
  ReceivedPacket packet;
  EXPECT_FALSE(socket.receive(&packet));
}

INSTANTIATE_TEST_SUITE_P(Families, OnLoopback, testing::Values("127.0.0.1", "::1"));

TEST(StampedSocket, WithoutKernelStampsPacketsStillCome) {
  StampedSocket from = open_socket("127.0.0.1", false);
  StampedSocket to = open_socket("127.0.0.1", false);
  ASSERT_TRUE(from.send(bytes_of(7), to.own_address(), {}, sent(0)));
  EXPECT_FALSE(from.is_waiting());
  ASSERT_TRUE(wait_for(to, POLLIN));
  ReceivedPacket packet;
  ASSERT_TRUE(to.receive(&packet));
  EXPECT_EQ(packet.wall_ns, spool::kNoStamp);
  EXPECT_EQ(from.stamps() | to.stamps(), 0U);
}

TEST(StampedSocket, ASendThatFindsNoWayMovesNoNumber) {
  StampedSocket from = open_socket("127.0.0.1");
  StampedSocket to = open_socket("127.0.0.1");
  ASSERT_TRUE(from.send(bytes_of(1), to.own_address(), {}, sent(0)));
  EXPECT_FALSE(from.send(bytes_of(1), *parse_address("203.0.113.1", 9), {}, sent(1))) << "from a loop-back address";
  EXPECT_FALSE(from.send(bytes_of(1), *parse_address("2001:db8::1", 9), {}, sent(2))) << "from a v4 socket";
  EXPECT_FALSE(from.send(bytes_of(1), *parse_address("255.255.255.255", 9), {}, sent(2))) << "broadcast: not allowed";
  ASSERT_TRUE(from.send(bytes_of(1), to.own_address(), {}, sent(3)));
  const auto stamps = read_all(&from);
  ASSERT_EQ(stamps.size(), 2U);
  EXPECT_EQ(stamps[0].sequence, 0);
  EXPECT_EQ(stamps[1].sequence, 3);
}

TEST(StampedSocket, AnyAddressAnswersFromTheOneThatWasAsked) {
  StampedSocket server = open_socket("::");
  StampedSocket client = open_socket("127.0.0.1");
  PeerAddress asked = *parse_address("127.9.8.7", server.port());
  ASSERT_TRUE(client.send(bytes_of(1), asked, {}, sent(0)));
  ASSERT_TRUE(wait_for(server, POLLIN));
  ReceivedPacket packet;
  ASSERT_TRUE(server.receive(&packet));
  EXPECT_EQ(packet.own.literal(), "127.9.8.7");
  ASSERT_TRUE(server.send(bytes_of(2), packet.source, packet.own, sent(0)));
  ASSERT_TRUE(wait_for(client, POLLIN));
  ASSERT_TRUE(client.receive(&packet));
  EXPECT_EQ(packet.source, asked);
}

TEST(StampedSocket, AForeignAddressIsRefusedWithTheReason) {
  const auto socket = StampedSocket::open(*parse_address("203.0.113.1", 4000), true, raw_now_ns);
  ASSERT_FALSE(socket);
  EXPECT_EQ(socket.error().code, ErrorCode::kNodeNotReady);
  EXPECT_EQ(socket.error().message,
            "clock probes: cannot bind to 203.0.113.1 port 4000: Cannot assign requested address");
}

TEST(ProbeSockets, ARangeGivesTheFreeOnes) {
  const PeerAddress loopback = *parse_address("127.0.0.1", 0);
  // Five ports in a row of which one at least is taken: by us.
  const StampedSocket taken = open_socket("127.0.0.1");
  const PortRange range{taken.port(), static_cast<std::uint16_t>(taken.port() > 65000 ? 65535 : taken.port() + 20)};
  const auto sockets = open_probe_sockets(loopback, range, true, raw_now_ns);
  ASSERT_TRUE(sockets);
  EXPECT_LE(sockets->size(), 5U);
  for (const StampedSocket& socket : *sockets) {
    EXPECT_GT(socket.port(), range.low);
    EXPECT_LE(socket.port(), range.high);
  }
  const auto none = open_probe_sockets(loopback, {taken.port(), taken.port()}, true, raw_now_ns);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "clock probes: UDP port " + std::to_string(taken.port()) + " is taken on 127.0.0.1");
}

TEST(ProbeSockets, ARangeThatIsTakenIsNamedAsOne) {
  const StampedSocket low = open_socket("127.0.0.1");
  auto high = StampedSocket::open(*parse_address("127.0.0.1", static_cast<std::uint16_t>(low.port() + 1)), true,
                                  raw_now_ns);  // or somebody else has it
  ASSERT_TRUE(high) << high.error().message;
  const PortRange range{low.port(), static_cast<std::uint16_t>(low.port() + 1)};
  const auto none = open_probe_sockets(*parse_address("127.0.0.1", 0), range, true, raw_now_ns);
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().message, "clock probes: UDP ports " + std::to_string(range.low) + " to " +
                                      std::to_string(range.high) + " are all taken on 127.0.0.1");
}

TEST(ProbeSockets, FourOthersTakeTurnsInBursts) {
  const auto sockets = open_probe_sockets(*parse_address("127.0.0.1", 0), {}, true, raw_now_ns);
  ASSERT_TRUE(sockets);
  EXPECT_EQ(sockets->size(), 5U);
  EXPECT_EQ(socket_of_burst(0, 5), 1U);
  EXPECT_EQ(socket_of_burst(3, 5), 4U);
  EXPECT_EQ(socket_of_burst(4, 5), 1U);
  EXPECT_EQ(socket_of_burst(5, 2), 1U);
  EXPECT_EQ(socket_of_burst(5, 1), 0U) << "the server's, if it is the only one";
}

}  // namespace
}  // namespace jaxprof::netsampler
