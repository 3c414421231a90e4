#include "netsampler/clock/probe_server.h"

#include <gtest/gtest.h>

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

class ProbeServerTest : public testing::Test {
 protected:
  ProbeCounts counts_;
  ProbeServer server_{&counts_};
};

ProbePacket follow_up(std::uint32_t burst, std::int64_t client_raw_ns) {
  ProbePacket question = test::sample_request(burst, kNoSequence, client_raw_ns);
  question.type = PacketType::kFollowUp;
  return question;
}

TEST_F(ProbeServerTest, AReplyEchoesItsRequestAndAddsTheServersStamps) {
  const ProbePacket request = test::sample_request(5, 0, 1000);
  const auto reply = server_.answer(request, 2000, 1990);
  ASSERT_TRUE(reply);
  ProbePacket expected = request;
  expected.type = PacketType::kReply;
  expected.source = test::kServerNode;
  expected.destination = test::kClientNode;
  expected.server_receive_raw_ns = 2000;
  expected.server_receive_wall_ns = 1990;
  EXPECT_EQ(*reply, expected);
  EXPECT_EQ(reply->previous, kNoSequence) << "nothing was sent before";
}

TEST_F(ProbeServerTest, WhenAReplyWasSentTravelsInTheNext) {
  ASSERT_TRUE(server_.answer(test::sample_request(5, 0, 1000), 2000, 1990));
  server_.take_sent_stamp(test::kClientNode, 5, 0, 2100);
  const auto second = server_.answer(test::sample_request(5, 1, 3000), 4000, 3990);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->previous, 0);
  EXPECT_EQ(second->previous_send_wall_ns, 2100);
  server_.take_sent_stamp(test::kClientNode, 5, 1, 4100);
  for (const std::int64_t client_raw_ns : {5000, 6000}) {
    const auto last = server_.answer(follow_up(5, client_raw_ns), 6000, 5990);
    ASSERT_TRUE(last);
    EXPECT_EQ(last->type, PacketType::kFollowUpReply);
    EXPECT_EQ(last->previous, 1) << "a follow-up that is asked again has the same answer";
    EXPECT_EQ(last->previous_send_wall_ns, 4100);
  }
}

TEST_F(ProbeServerTest, AStampThatIsNotThereYetIsNotMadeUp) {
  ASSERT_TRUE(server_.answer(test::sample_request(5, 0, 1000), 2000, 1990));
  EXPECT_EQ(server_.answer(test::sample_request(5, 1, 3000), 4000, 3990)->previous, kNoSequence);
  server_.take_sent_stamp(test::kClientNode, 5, 0, 2100);  // too late
  EXPECT_EQ(server_.answer(test::sample_request(5, 2, 5000), 6000, 5990)->previous, kNoSequence);
}

TEST_F(ProbeServerTest, StampsOfAnotherBurstAreNotGivenAway) {
  ASSERT_TRUE(server_.answer(test::sample_request(5, 15, 1000), 2000, 1990));
  server_.take_sent_stamp(test::kClientNode, 5, 15, 2100);
  EXPECT_EQ(server_.answer(test::sample_request(6, 0, 3000), 4000, 3990)->previous, kNoSequence);
}

TEST_F(ProbeServerTest, ClientsAreKeptApart) {
  ProbePacket other = test::sample_request(5, 0, 7);
  other.source = test::kClientNode + 1;
  ASSERT_TRUE(server_.answer(test::sample_request(5, 0, 1000), 2000, 1990));
  ASSERT_TRUE(server_.answer(other, 2000, 1990)) << "its clock is another";
  server_.take_sent_stamp(test::kClientNode, 5, 0, 2100);
  other.sequence = 1;
  other.client_raw_ns = 8;
  EXPECT_EQ(server_.answer(other, 2200, 2190)->previous, kNoSequence);
  EXPECT_EQ(server_.n_clients(), 2U);
}

TEST_F(ProbeServerTest, CopiesAndLateRequestsAreDropped) {
  const ProbePacket first = test::sample_request(5, 0, 1000);
  const ProbePacket second = test::sample_request(5, 1, 2000);
  ASSERT_TRUE(server_.answer(first, 1, 1));
  EXPECT_FALSE(server_.answer(first, 2, 2));
  ASSERT_TRUE(server_.answer(second, 3, 3));
  EXPECT_FALSE(server_.answer(first, 4, 4));
  EXPECT_FALSE(server_.answer(second, 5, 5));
  EXPECT_FALSE(server_.answer(test::sample_request(0, 0, spool::kNoStamp), 6, 6)) << "without its time";
  EXPECT_EQ(counts_.replayed, 4U);
  EXPECT_TRUE(server_.answer(test::sample_request(0, 0, 2001), 7, 7)) << "a client that has begun anew counts anew";
}

TEST_F(ProbeServerTest, RemembersALimitedNumberOfClients) {
  ProbePacket request = test::sample_request(0, 0, 1);
  for (std::uint64_t client = 0; client < kMostClients + 10; ++client) {
    request.source = 1000 + client;
    ASSERT_TRUE(server_.answer(request, 1, 1));
    if (client == kMostClients - 1) {  // the first is not the most silent one any more
      request.source = 1000;
      request.client_raw_ns = 2;
      ASSERT_TRUE(server_.answer(request, 1, 1));
      request.client_raw_ns = 1;
    }
  }
  EXPECT_EQ(server_.n_clients(), kMostClients);
  request.source = 1000;
  EXPECT_FALSE(server_.answer(request, 1, 1)) << "it is remembered";
}

}  // namespace
}  // namespace jaxprof::netsampler
