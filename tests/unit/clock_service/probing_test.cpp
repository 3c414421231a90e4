// Nodes of one machine, over its loopback: each has a boot id of its own, and all are driven by this one thread.
#include "netsampler/clock/probing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "agent/base/clocks.h"
#include "agent/base/directory_listing.h"
#include "agent/contract/run_layout.h"
#include "netsampler/clock/peer_choice.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::netsampler {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kPatienceNs = 60'000 * kMillisecond;

std::int64_t raw_now() {
  return clock_ns(CLOCK_MONOTONIC_RAW);
}

struct ProbedNode {
  std::vector<PeerNews> peers;
  std::vector<spool::ProbeBurst> bursts;
  std::unique_ptr<Probing> probing;

  // With a node, by its boot id.
  std::size_t answered(const std::string& boot_id, spool::BurstKind kind) const {
    std::size_t count = 0;
    for (const spool::ProbeBurst& burst : bursts) {
      if (burst.exchanges.empty() || burst.kind != kind) continue;
      for (const PeerNews& peer : peers) count += peer.peer == burst.peer && peer.boot_id == boot_id ? 1 : 0;
    }
    return count;
  }
};

class ProbingTest : public testing::Test {
 protected:
  static ProbingSettings settings(const std::string& state, const std::string& boot_id) {
    return {state, "7.0.0", "host-" + boot_id, boot_id, "lo", {}};
  }
  ProbedNode* start(const std::string& boot_id) {
    ProbedNode& node = nodes_[boot_id];
    auto probing = Probing::open(settings(state_, boot_id), raw_now, [&node](ClockNews news) {
      if (const auto* peer = std::get_if<PeerNews>(&news)) node.peers.push_back(*peer);
      if (const auto* burst = std::get_if<spool::ProbeBurst>(&news)) node.bursts.push_back(*burst);
    });
    EXPECT_TRUE(probing) << probing.error().message;
    node.probing = std::move(*probing);
    return &node;
  }
  // Lets all nodes work until it holds.
  template <typename Condition>
  void work_until(Condition holds, const char* what) {
    const std::int64_t end_ns = raw_now() + kPatienceNs;
    while (!holds()) {
      ASSERT_LT(raw_now(), end_ns) << what;
      for (auto& [boot_id, node] : nodes_) {
        if (node.probing) node.probing->run_until(raw_now() + kMillisecond / 4, -1);
      }
    }
  }
  // All others have answered its first questions.
  bool has_met_all(const std::string& boot_id) {
    for (const auto& [other, node] : nodes_) {
      if (other != boot_id && node.probing && nodes_[boot_id].answered(other, spool::BurstKind::kStart) == 0)
        return false;
    }
    return true;
  }
  bool have_all_met() {
    for (const auto& [boot_id, node] : nodes_) {
      if (node.probing && !has_met_all(boot_id)) return false;
    }
    return true;
  }

  test::TempFolder temp_;
  std::string state_ = temp_.path();
  std::map<std::string, ProbedNode> nodes_;
};

TEST_F(ProbingTest, OneNodeAsksNobodyAndIsReadyForOthers) {
  ProbedNode* a = start("a");
  for (int i = 0; i < 20; ++i) a->probing->run_until(raw_now() + kMillisecond, -1);
  EXPECT_THAT(a->peers, IsEmpty());
  EXPECT_EQ(a->probing->describe_silent(), "");
  EXPECT_NE(a->probing->own().address.port, 0);
  a->probing->finish(kPatienceNs);  // nobody answers, so nobody is waited for
  EXPECT_THAT(list_directory(run_layout::clock_directory(state_)), ElementsAre("token"));
}

TEST_F(ProbingTest, NodesThatStartAtDifferentTimesAllAskEachOther) {
  start("a");
  start("b");
  work_until([&] { return have_all_met(); }, "a and b ask each other");
  start("c");
  work_until([&] { return have_all_met(); }, "c is taken in");
  for (const auto& [boot_id, node] : nodes_) {
    for (const spool::ProbeBurst& burst : node.bursts) {
      EXPECT_EQ(burst.sent, ProbeSchedule::kStartExchanges);
      for (const spool::ProbeExchange& exchange : burst.exchanges) {
        EXPECT_LE(exchange.at(spool::Stamp::kClientSendRaw), exchange.at(spool::Stamp::kServerReceiveRaw));
        EXPECT_LE(exchange.at(spool::Stamp::kServerSendRaw), exchange.at(spool::Stamp::kClientReceiveRaw));
      }
    }
    EXPECT_EQ(node.probing->describe_silent(), "");
  }
}

TEST_F(ProbingTest, TheNodeOfRank0IsToldToBeTheReference) {
  ProbedNode* a = start("a");
  ProbedNode* b = start("b");
  work_until([&] { return have_all_met(); }, "they ask each other");
  EXPECT_FALSE(a->peers.back().is_reference);
  EXPECT_TRUE(b->probing->name_reference());
  EXPECT_TRUE(b->probing->is_reference());
  work_until([&] { return a->peers.back().is_reference; }, "a sees that b is the reference");
  EXPECT_FALSE(a->probing->is_reference());
  EXPECT_EQ(a->peers.back().peer, a->peers.front().peer) << "under the same number";
}

TEST_F(ProbingTest, ASuccessorIsAskedAnewUnderTheSameNumber) {
  ProbedNode* a = start("a");
  start("b");
  work_until([&] { return have_all_met(); }, "they ask each other");
  nodes_["b"].probing.reset();  // as if killed: its endpoint stays
  start("b");
  work_until([&] { return a->answered("b", spool::BurstKind::kStart) >= 2; }, "a asks b's successor");
  ASSERT_GE(a->peers.size(), 2U);
  EXPECT_EQ(a->peers.front().peer, a->peers.back().peer);
  EXPECT_NE(a->peers.front().port, a->peers.back().port);
}

TEST_F(ProbingTest, ADeadNodeIsNamedAlsoAfterItsEndpointIsGone) {
  ProbedNode* b = start("b");
  const std::string address = b->probing->own().address.literal();
  b->probing.reset();
  ProbedNode* a = start("a");
  start("c");
  work_until([&] { return !a->probing->describe_silent().empty() && has_met_all("a"); }, "a asks b in vain, and c");
  EXPECT_EQ(a->probing->describe_silent(), "no answer from 1 of 2 nodes asked: host-b (" + address + ")");
  EXPECT_GE(a->bursts.size(), 2U) << "a burst without an answer is one, too";
  for (const std::string& name : list_directory(run_layout::clock_directory(state_))) {
    if (name.starts_with("b.")) std::filesystem::remove(run_layout::clock_directory(state_) + "/" + name);
  }
  const std::int64_t end_ns = raw_now() + 1500 * kMillisecond;  // it looks at least once a second at first
  work_until([&] { return raw_now() > end_ns; }, "a look");
  EXPECT_EQ(a->probing->describe_silent(), "no answer from 1 of 2 nodes asked: host-b (" + address + ")");
}

TEST_F(ProbingTest, ANodeThatHasAnsweredCountsAlsoIfOthersAreAskedInItsPlace) {
  ProbedNode* own = start("own");
  start("g5");
  work_until([&] { return have_all_met(); }, "they ask each other");
  std::set<std::string> nodes = {"own", "g5"};
  for (int i = 1; i <= 8; ++i) nodes.insert("d" + std::to_string(i));
  ASSERT_FALSE(choose_peers("own", nodes, "d1", choice_seed("7.0.0")).contains("g5")) << "it takes another name";
  for (const std::string& name : nodes) {
    if (name.starts_with("d")) start(name)->probing.reset();  // as if killed: its endpoint stays
  }
  work_until([&] { return own->probing->describe_silent().starts_with("no answer from 5 of 6 nodes asked: host-d"); },
             "the dead are asked in vain");
}

TEST_F(ProbingTest, ANodeThatEndsIsNoneThatDoesNotAnswer) {
  ProbedNode* a = start("a");
  start("b");
  work_until([&] { return have_all_met(); }, "they ask each other");
  nodes_["b"].probing->finish(0);
  nodes_["b"].probing.reset();
  EXPECT_EQ(a->probing->describe_silent(), "");
}

TEST_F(ProbingTest, AStepIsFollowedByABurst) {
  ProbedNode* a = start("a");
  start("b");
  work_until([&] { return have_all_met(); }, "they ask each other");
  a->probing->hurry();
  work_until([&] { return a->answered("b", spool::BurstKind::kStep) == 1; }, "a asks at once");
}

TEST_F(ProbingTest, TheEndIsALastBurstAndLeavesNoEndpoint) {
  ProbedNode* a = start("a");
  start("b");
  work_until([&] { return have_all_met(); }, "they ask each other");
  // One thread cannot let b answer meanwhile: that the end comes all the same is what is to be seen.
  const std::int64_t begin_ns = raw_now();
  a->probing->finish(100 * kMillisecond);
  EXPECT_GE(raw_now() - begin_ns, 100 * kMillisecond);
  for (const std::string& name : list_directory(run_layout::clock_directory(state_))) {
    EXPECT_FALSE(name.starts_with("a.")) << name;
  }
}

TEST_F(ProbingTest, WhateverIsInTheWayIsTheReason) {
  const auto reason = [&](const ProbingSettings& wanted) {
    const auto probing = Probing::open(wanted, raw_now, [](const ClockNews&) {});
    EXPECT_FALSE(probing);
    return probing ? "" : probing.error().message;
  };
  EXPECT_THAT(reason(settings("/proc/none", "a")), HasSubstr("/proc/none/clock"));
  EXPECT_THAT(reason(settings(state_, "")), HasSubstr("boot id"));
  EXPECT_THAT(reason(settings(state_, "../a")), HasSubstr("boot id"));
  ProbingSettings other = settings(state_, "a");
  other.interface = "no-such0";
  EXPECT_THAT(reason(other), HasSubstr("no-such0"));
  ProbedNode* b = start("b");
  other = settings(state_, "a");
  other.ports = {b->probing->own().address.port, b->probing->own().address.port};
  EXPECT_NE(reason(other), "") << "the port is taken";
  std::filesystem::permissions(run_layout::clock_token_path(state_), std::filesystem::perms(0644));
  EXPECT_THAT(reason(settings(state_, "a")), HasSubstr("token"));
}

}  // namespace
}  // namespace jaxprof::netsampler
