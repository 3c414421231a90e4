// Engines on the loop-back interface, driven by turns in one thread. Nothing here depends on how long anything takes;
// the limits are there so that a failure ends.
#include "netsampler/clock/probe_engine.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/base/clocks.h"
#include "agent/spool/clock_record.h"
#include "tests/unit/probes/probe_packets.h"

namespace jaxprof::netsampler {
namespace {

using spool::BurstKind;
using spool::Stamp;

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t raw_now_ns() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

struct Node {
  explicit Node(std::uint64_t id, const char* literal = "127.0.0.1", bool wants_kernel_stamps = true,
                RawClock raw_ns = {}) {
    ProbeEngineOptions options;
    options.bind = *parse_address(literal, 0);
    options.token = test::sample_token();
    options.run_id = test::kRunId;
    options.node = id;
    options.raw_ns = std::move(raw_ns);
    options.wants_kernel_stamps = wants_kernel_stamps;
    auto opened = ProbeEngine::open(options, [this](const spool::ProbeBurst& burst) { bursts.push_back(burst); });
    if (opened) engine = std::move(*opened);
    target.address = *parse_address(options.bind.is_any() ? "127.0.0.1" : literal, engine ? engine->port() : 0);
    target.node = id;
  }
  std::unique_ptr<ProbeEngine> engine;
  ProbeTarget target;
  std::vector<spool::ProbeBurst> bursts;
};

// All have their turns until no burst is pending.
void run(const std::vector<Node*>& nodes) {
  const std::int64_t end_ns = raw_now_ns() + 60 * kSecond;
  const auto is_pending = [](const Node* node) { return node->engine->n_pending() > 0; };
  while (std::any_of(nodes.begin(), nodes.end(), is_pending) && raw_now_ns() < end_ns) {
    for (Node* node : nodes) node->engine->run_until(INT64_MIN, -1);
  }
}

std::uint64_t n_dropped(const ProbeCounts& counts) {
  return counts.wrong_size + counts.wrong_mac + counts.wrong_node + counts.replayed + counts.rate_limited +
         counts.unpaired;
}

void expect_order(const spool::ProbeExchange& exchange) {
  EXPECT_LT(exchange.at(Stamp::kClientSendRaw), exchange.at(Stamp::kServerReceiveRaw));
  EXPECT_LE(exchange.at(Stamp::kServerReceiveRaw), exchange.at(Stamp::kServerSendRaw));
  EXPECT_LT(exchange.at(Stamp::kServerSendRaw), exchange.at(Stamp::kClientReceiveRaw));
}

TEST(ProbeEngine, ABurstHasAllEightStampsInTheOrderOfTime) {
  Node client(1);
  Node server(2);
  ASSERT_TRUE(client.engine && server.engine);
  ASSERT_TRUE(client.engine->enqueue_burst(server.target, BurstKind::kStart, 16));
  EXPECT_EQ(client.engine->n_pending(), 1U);
  run({&client, &server});
  ASSERT_EQ(client.bursts.size(), 1U);
  const spool::ProbeBurst& burst = client.bursts[0];
  EXPECT_EQ(burst.kind, BurstKind::kStart);
  EXPECT_EQ(burst.sent, 16U);
  ASSERT_EQ(burst.exchanges.size(), 16U);
  for (const spool::ProbeExchange& exchange : burst.exchanges) {
    for (const std::int64_t stamp : exchange.stamps_ns) EXPECT_NE(stamp, spool::kNoStamp);
    expect_order(exchange);
    EXPECT_LE(exchange.at(Stamp::kClientSendWall), exchange.at(Stamp::kServerReceiveWall));
    EXPECT_LE(exchange.at(Stamp::kServerReceiveWall), exchange.at(Stamp::kServerSendWall));
    EXPECT_LE(exchange.at(Stamp::kServerSendWall), exchange.at(Stamp::kClientReceiveWall));
  }
  EXPECT_EQ(client.engine->stamps(), spool::kStampReceive | spool::kStampSend);
  EXPECT_EQ(client.engine->counts().sent, 17U);
  EXPECT_EQ(server.engine->counts().sent, 17U);
  EXPECT_EQ(server.engine->counts().received, 17U);
  EXPECT_EQ(n_dropped(client.engine->counts()) + n_dropped(server.engine->counts()), 0U);
}

TEST(ProbeEngine, WithoutKernelStampsTheProgramsOwnAreLeft) {
  Node client(1, "127.0.0.1", false);
  Node server(2, "127.0.0.1", false);
  ASSERT_TRUE(client.engine->enqueue_burst(server.target, BurstKind::kPeriodic, 16));
  run({&client, &server});
  ASSERT_EQ(client.bursts.size(), 1U);
  ASSERT_EQ(client.bursts[0].exchanges.size(), 16U);
  for (const spool::ProbeExchange& exchange : client.bursts[0].exchanges) {
    expect_order(exchange);
    for (const Stamp stamp :
         {Stamp::kClientSendWall, Stamp::kServerReceiveWall, Stamp::kServerSendWall, Stamp::kClientReceiveWall}) {
      EXPECT_FALSE(exchange.has(stamp));
    }
  }
  EXPECT_EQ(client.engine->stamps(), 0U);
}

TEST(ProbeEngine, NodesProbeEachOtherAtTheSameTime) {
  Node a(1);
  Node b(2, "127.0.0.1", true, [] { return raw_now_ns() + 1'000 * kSecond; });  // its clock is ahead
  Node c(3, "::");
  for (std::uint32_t i = 0; i < 10; ++i) {
    a.engine->enqueue_burst(b.target, BurstKind::kPeriodic, 8);
    a.engine->enqueue_burst(c.target, BurstKind::kPeriodic, 8);
    b.engine->enqueue_burst(a.target, BurstKind::kPeriodic, 8);
    c.engine->enqueue_burst(b.target, BurstKind::kPeriodic, 8);
  }
  run({&a, &b, &c});
  EXPECT_EQ(a.bursts.size(), 20U);
  EXPECT_EQ(b.bursts.size(), 10U);
  EXPECT_EQ(c.bursts.size(), 10U);
  for (const Node* node : {&a, &b, &c}) {
    EXPECT_EQ(n_dropped(node->engine->counts()), 0U);
    std::uint32_t number = 0;
    for (const spool::ProbeBurst& burst : node->bursts) {
      EXPECT_EQ(burst.burst, number++);
      EXPECT_EQ(burst.exchanges.size(), 8U);
    }
  }
  for (const spool::ProbeExchange& exchange : b.bursts[0].exchanges) {
    EXPECT_GT(exchange.at(Stamp::kClientSendRaw) - exchange.at(Stamp::kServerReceiveRaw), 999 * kSecond);
  }
}

TEST(ProbeEngine, V6Works) {
  Node client(1, "::1");
  if (!client.engine) GTEST_SKIP() << "no ::1 here";
  Node server(2, "::1");
  ASSERT_TRUE(client.engine->enqueue_burst(server.target, BurstKind::kStart, 8));
  run({&client, &server});
  ASSERT_EQ(client.bursts.size(), 1U);
  ASSERT_EQ(client.bursts[0].exchanges.size(), 8U);
  for (const std::int64_t stamp : client.bursts[0].exchanges[7].stamps_ns) EXPECT_NE(stamp, spool::kNoStamp);
}

TEST(ProbeEngine, ASilentServerCostsFourRequestsAndTheNextIsAsked) {
  Node client(1);
  Node server(2);
  ProbeTarget silent;
  {
    const Node gone(3);
    silent = gone.target;
  }
  client.engine->enqueue_burst(silent, BurstKind::kPeriodic, 16);
  client.engine->enqueue_burst(server.target, BurstKind::kPeriodic, 16);
  run({&client, &server});
  ASSERT_EQ(client.bursts.size(), 2U);
  EXPECT_EQ(client.bursts[0].sent, 4U);
  EXPECT_TRUE(client.bursts[0].exchanges.empty());
  EXPECT_EQ(client.bursts[1].exchanges.size(), 16U);
}

TEST(ProbeEngine, AThreadThatIsLateReadsWhatHasComeBeforeItGivesUp) {
  std::int64_t late_ns = 0;
  Node client(1, "127.0.0.1", true, [&late_ns] { return raw_now_ns() + late_ns; });
  Node server(2);
  client.engine->enqueue_burst(server.target, BurstKind::kPeriodic, 1);
  client.engine->run_until(INT64_MIN, -1);
  while (server.engine->counts().sent == 0) server.engine->run_until(raw_now_ns() + kSecond / 1000, -1);
  late_ns = 10 * kSecond;
  run({&client, &server});
  ASSERT_EQ(client.bursts.size(), 1U);
  EXPECT_EQ(client.bursts[0].exchanges.size(), 1U);
  EXPECT_EQ(client.engine->counts().unpaired, 0U);
}

TEST(ProbeEngine, AnAddressWithoutAWayFailsAtOnce) {
  Node client(1);
  client.engine->enqueue_burst({*parse_address("2001:db8::1", 9), 7, 5}, BurstKind::kPeriodic, 16);
  const std::int64_t begin_ns = raw_now_ns();
  client.engine->run_until(begin_ns, -1);
  ASSERT_EQ(client.bursts.size(), 1U);
  EXPECT_EQ(client.bursts[0].peer, 5U);
  EXPECT_EQ(client.bursts[0].sent, 4U);
  EXPECT_EQ(client.engine->counts().send_failed, 4U);
}

TEST(ProbeEngine, AWrongTokenOrNodeIsNeverAnswered) {
  Node client(1);
  Node server(2);
  ProbeTarget other = server.target;
  other.node = 99;
  client.engine->enqueue_burst(other, BurstKind::kPeriodic, 16);
  run({&client, &server});
  EXPECT_TRUE(client.bursts.at(0).exchanges.empty());
  EXPECT_EQ(server.engine->counts().wrong_node, 4U);
  EXPECT_EQ(server.engine->counts().sent, 0U);

  ProbeEngineOptions options;
  options.bind = *parse_address("127.0.0.1", 0);
  options.token = test::sample_token();
  options.token[0] ^= 1;
  options.run_id = test::kRunId;
  options.node = 4;
  Node stranger(4);
  auto engine = ProbeEngine::open(options, [&](const spool::ProbeBurst& burst) { stranger.bursts.push_back(burst); });
  ASSERT_TRUE(engine);
  stranger.engine = std::move(*engine);
  stranger.engine->enqueue_burst(server.target, BurstKind::kPeriodic, 16);
  run({&stranger, &server});
  EXPECT_TRUE(stranger.bursts.at(0).exchanges.empty());
  EXPECT_EQ(server.engine->counts().wrong_mac, 4U);
  EXPECT_EQ(server.engine->counts().sent, 0U);
}

TEST(ProbeEngine, BurstsThatWaitCanBeDroppedAndAreLimited) {
  Node client(1);
  Node server(2);
  server.target.peer = 6;
  EXPECT_FALSE(client.engine->enqueue_burst(client.target, BurstKind::kStart, 1)) << "itself";
  EXPECT_FALSE(client.engine->enqueue_burst(server.target, BurstKind::kStart, 257)) << "too long";
  for (int i = 0; i < 4096; ++i) ASSERT_TRUE(client.engine->enqueue_burst(server.target, BurstKind::kStart, 1));
  EXPECT_FALSE(client.engine->enqueue_burst(server.target, BurstKind::kStart, 1));
  client.engine->drop_bursts(5);
  EXPECT_EQ(client.engine->n_pending(), 4096U);
  client.engine->drop_bursts(6);
  EXPECT_EQ(client.engine->n_pending(), 0U);
}

TEST(ProbeEngine, ReturnsAtItsDeadlineAndWhenItIsWoken) {
  Node node(1);
  const std::int64_t begin_ns = raw_now_ns();
  node.engine->run_until(begin_ns + 20'000'000, -1);
  EXPECT_GE(raw_now_ns(), begin_ns + 20'000'000);
  const UniqueFd wake(eventfd(1, EFD_CLOEXEC));
  node.engine->run_until(begin_ns + 600 * kSecond, wake.get());  // returns: the test ends
  std::uint64_t value = 0;
  EXPECT_EQ(read(wake.get(), &value, sizeof value), static_cast<ssize_t>(sizeof value)) << "it is left to the caller";
}

TEST(ProbeEngine, AFloodTakesNoMoreThanItsShare) {
  Node server(2);
  StampedSocket attacker = std::move(**StampedSocket::open(*parse_address("127.0.0.1", 0), false, raw_now_ns));
  const PacketBytes wrong = encode_packet(test::sample_request(1, 2, 3));
  const std::int64_t begin_ns = raw_now_ns();
  std::uint64_t n_sent = 0;
  while (raw_now_ns() < begin_ns + 200'000'000) {
    for (int i = 0; i < 100; ++i) n_sent += attacker.send(wrong, server.target.address, {}, {});
    server.engine->run_until(INT64_MIN, -1);
  }
  const std::int64_t n_slices = (raw_now_ns() - begin_ns) / 10'000'000 + 2;
  const ProbeCounts& counts = server.engine->counts();
  EXPECT_GT(counts.wrong_mac, 0U);
  EXPECT_GT(n_sent, counts.received) << "it was a flood";
  EXPECT_LE(counts.received, static_cast<std::uint64_t>(200 * n_slices));
  EXPECT_EQ(counts.received, counts.wrong_mac + counts.rate_limited);
  EXPECT_EQ(counts.sent, 0U);
  ReceivedPacket packet;
  EXPECT_FALSE(attacker.receive(&packet));
}

TEST(ClockNodeId, IsOfBootAndNetworkNamespace) {
  const std::uint64_t id = clock_node_id("aaaa", 1);
  EXPECT_EQ(clock_node_id("aaaa", 1), id);
  EXPECT_NE(clock_node_id("aaaa", 2), id);
  EXPECT_NE(clock_node_id("aaab", 1), id);
  EXPECT_NE(clock_node_id("aaaa 1", 1), clock_node_id("aaaa", 11));
}

}  // namespace
}  // namespace jaxprof::netsampler
