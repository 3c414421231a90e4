#include "netsampler/clock/probe_client.h"

#include <gtest/gtest.h>

#include <utility>

#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

using spool::Stamp;

constexpr std::int64_t kMillisecond = 1'000'000;

class ProbeClientTest : public testing::Test {
 protected:
  void begin(std::uint32_t count, std::uint32_t burst = 3) {
    client_.begin({test::sample_address(), test::kServerNode, 7}, spool::BurstKind::kStart, burst, count);
  }
  ProbePacket question() {
    const auto packet = client_.next(now_ns_);
    EXPECT_TRUE(packet);
    return packet.value_or(ProbePacket{});
  }
  bool answer(const ProbePacket& question) {
    return client_.take_reply(test::sample_reply(question), question.client_raw_ns + 1000,
                              question.client_raw_ns + 990);
  }
  // A whole exchange of 10 µs.
  void exchange() {
    EXPECT_TRUE(answer(question()));
    now_ns_ += 10'000;
  }
  // Waits until the question under way is given up.
  void lose() {
    question();
    now_ns_ = client_.deadline_raw_ns();
  }

  std::uint64_t n_nonces_ = 0;
  ProbeClient client_{test::kClientNode, [this] { return ++n_nonces_; }};
  std::int64_t now_ns_ = 1'000'000;
};

TEST_F(ProbeClientTest, ABurstIsExchangesAndAFollowUp) {
  begin(2);
  const ProbePacket first = question();
  EXPECT_EQ(first.type, PacketType::kRequest);
  EXPECT_EQ(first.source, test::kClientNode);
  EXPECT_EQ(first.destination, test::kServerNode);
  EXPECT_EQ(std::pair(first.burst, first.sequence), std::pair(3U, std::uint16_t{0}));
  EXPECT_EQ(first.client_raw_ns, now_ns_);
  EXPECT_FALSE(client_.next(now_ns_)) << "one is under way at a time";
  client_.take_sent_stamp(3, 0, 500);
  EXPECT_TRUE(answer(first));

  now_ns_ += 10'000;
  const ProbePacket second = question();
  EXPECT_EQ(second.sequence, 1);
  EXPECT_NE(second.nonce, first.nonce);
  ProbePacket reply = test::sample_reply(second);
  reply.previous = 0;
  reply.previous_send_wall_ns = 700;
  EXPECT_TRUE(client_.take_reply(reply, now_ns_ + 1000, spool::kNoStamp));
  client_.take_sent_stamp(3, 1, 800);  // the kernel's stamp may come after the reply

  const ProbePacket last = question();
  EXPECT_EQ(last.type, PacketType::kFollowUp);
  EXPECT_EQ(last.sequence, kNoSequence);
  EXPECT_FALSE(client_.take_finished());
  reply = test::sample_reply(last);
  reply.previous = 1;
  reply.previous_send_wall_ns = 900;
  EXPECT_TRUE(client_.take_reply(reply, now_ns_ + 2000, 1));
  EXPECT_FALSE(client_.next(now_ns_ + 2000));

  spool::ProbeBurst expected{7, 3, spool::BurstKind::kStart, 2, {}};
  expected.exchanges.resize(2);
  expected.exchanges[0] = {0, {1'000'000, 500, 1'000'090, 1'000'100, 1'000'200, 700, 1'000'990, 1'001'000}};
  expected.exchanges[1] = {1, {1'010'000, 800, 1'010'090, 1'010'100, 1'010'200, 900, spool::kNoStamp, 1'011'000}};
  EXPECT_EQ(client_.take_finished(), expected);
  EXPECT_FALSE(client_.is_busy());
  EXPECT_FALSE(client_.take_finished());
}

TEST_F(ProbeClientTest, AReplyToAnythingElseIsUnpaired) {
  begin(4);
  exchange();
  const ProbePacket second = question();
  const ProbePacket right = test::sample_reply(second);
  const auto is_taken = [this](ProbePacket reply) { return client_.take_reply(reply, now_ns_ + 1000, 1); };
  const auto changed = [&right](auto change) {
    ProbePacket reply = right;
    change(&reply);
    return reply;
  };
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { ++p->nonce; })));
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { ++p->burst; })));
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { --p->sequence; })));
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { ++p->source; }))) << "another node's";
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { --p->client_raw_ns; })));
  EXPECT_FALSE(is_taken(changed([](ProbePacket* p) { p->type = PacketType::kFollowUpReply; })));
  EXPECT_TRUE(is_taken(right));
  EXPECT_FALSE(is_taken(right)) << "its copy";
}

TEST_F(ProbeClientTest, ALateReplyIsUnpairedAndItsExchangeIsMissing) {
  begin(2);
  const ProbePacket first = question();
  now_ns_ = client_.deadline_raw_ns();
  const ProbePacket second = question();
  EXPECT_EQ(second.sequence, 1);
  EXPECT_FALSE(answer(first));
  EXPECT_TRUE(answer(second));
  EXPECT_TRUE(answer(question()));
  const auto burst = client_.take_finished();
  ASSERT_TRUE(burst);
  EXPECT_EQ(burst->sent, 2U);
  ASSERT_EQ(burst->exchanges.size(), 1U);
  EXPECT_EQ(burst->exchanges[0].sequence, 1U);
}

TEST_F(ProbeClientTest, TheStampOfALostRequestIsNotTheNextOnes) {
  begin(2);
  question();
  client_.take_sent_stamp(3, 0, 500);
  now_ns_ = client_.deadline_raw_ns();
  const ProbePacket second = question();
  client_.take_sent_stamp(2, 1, 600);            // of another burst
  client_.take_sent_stamp(3, 0, 600);            // the lost one's
  client_.take_sent_stamp(3, kNoSequence, 600);  // a follow-up's
  EXPECT_TRUE(answer(second));
  EXPECT_TRUE(answer(question()));
  EXPECT_EQ(client_.take_finished()->exchanges.at(0).at(Stamp::kClientSendWall), spool::kNoStamp);
}

TEST_F(ProbeClientTest, AServerThatIsNotThereIsAskedFourTimes) {
  begin(64);
  const std::int64_t start_ns = now_ns_;
  for (int i = 0; i < 4; ++i) lose();
  EXPECT_EQ(now_ns_ - start_ns, (50 + 100 + 200 + 200) * kMillisecond);
  EXPECT_FALSE(client_.next(now_ns_));
  const auto burst = client_.take_finished();
  ASSERT_TRUE(burst);
  EXPECT_EQ(burst->sent, 4U);
  EXPECT_TRUE(burst->exchanges.empty());
}

TEST_F(ProbeClientTest, OneThatGoesAwayIsAskedForItsLastStampTwice) {
  begin(64);
  exchange();
  for (int i = 0; i < 4; ++i) lose();
  EXPECT_EQ(question().type, PacketType::kFollowUp);
  now_ns_ = client_.deadline_raw_ns();
  EXPECT_EQ(question().type, PacketType::kFollowUp);
  now_ns_ = client_.deadline_raw_ns();
  EXPECT_FALSE(client_.next(now_ns_));
  const auto burst = client_.take_finished();
  ASSERT_TRUE(burst);
  EXPECT_EQ(burst->sent, 5U);
  EXPECT_EQ(burst->exchanges.size(), 1U);
}

TEST_F(ProbeClientTest, ThreeLossesInARowEndNothing) {
  begin(9);
  for (int i = 0; i < 2; ++i) {
    for (int j = 0; j < 3; ++j) lose();
    exchange();
  }
  EXPECT_EQ(question().sequence, 8);
}

TEST_F(ProbeClientTest, AQuestionThatCannotBeSentIsLostAtOnce) {
  begin(64);
  for (int i = 0; i < 4; ++i) {
    question();
    client_.take_send_failure();
  }
  EXPECT_FALSE(client_.next(now_ns_));
  EXPECT_EQ(client_.take_finished()->sent, 4U);
}

TEST_F(ProbeClientTest, ABurstOfNothingEndsAtOnce) {
  begin(0);
  EXPECT_FALSE(client_.next(now_ns_));
  EXPECT_EQ(client_.take_finished()->sent, 0U);
}

TEST(ReplyTimeout, FollowsTheRepliesBetweenTwentyAndTwoHundredMilliseconds) {
  ReplyTimeout timeout;
  EXPECT_EQ(timeout.ns(), 50 * kMillisecond);
  timeout.take_round_trip(30'000);
  EXPECT_EQ(timeout.ns(), 20 * kMillisecond);
  timeout.take_loss();
  timeout.take_loss();
  EXPECT_EQ(timeout.ns(), 80 * kMillisecond);
  ReplyTimeout slow;
  slow.take_round_trip(30 * kMillisecond);
  EXPECT_EQ(slow.ns(), 90 * kMillisecond) << "mean + 4 deviations";
  for (int i = 0; i < 100; ++i) slow.take_round_trip(30 * kMillisecond);
  EXPECT_NEAR(static_cast<double>(slow.ns()), 30e6, 0.1e6);
  for (int i = 0; i < 10; ++i) slow.take_loss();
  EXPECT_EQ(slow.ns(), 200 * kMillisecond);
  slow.take_round_trip(INT64_MAX / 16);
  EXPECT_EQ(slow.ns(), 200 * kMillisecond);
}

}  // namespace
}  // namespace jaxprof::netsampler
