#include "netsampler/clock/peer_choice.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace jaxprof::netsampler {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;

std::set<std::string> nodes_of(int count) {
  std::set<std::string> nodes;
  for (int i = 0; i < count; ++i) nodes.insert("node-" + std::to_string(1000 + i));
  return nodes;
}

TEST(CentreOf, IsTheReferenceIfItIsThereElseTheFirst) {
  EXPECT_EQ(centre_of({"a", "b", "c"}, "b"), "b");
  EXPECT_EQ(centre_of({"a", "b", "c"}, ""), "a");
  EXPECT_EQ(centre_of({"a", "b", "c"}, "z"), "a");
  EXPECT_EQ(centre_of({}, "z"), "");
}

TEST(ChoosePeers, FewNodesAllAskEachOther) {
  EXPECT_THAT(choose_peers("a", {"a"}, "a", 1), IsEmpty());
  EXPECT_THAT(choose_peers("a", {"a", "b"}, "a", 1), ElementsAre("b"));
  EXPECT_THAT(choose_peers("c", {"a", "b", "c", "d", "e", "f"}, "a", 1), ElementsAre("a", "b", "d", "e", "f"));
}

TEST(ChoosePeers, EveryNodeAsksTheCentreAndFourOthersAndNeverItself) {
  const auto nodes = nodes_of(100);
  const std::string centre = "node-1042";
  for (const std::string& own : nodes) {
    const auto peers = choose_peers(own, nodes, centre, 7);
    EXPECT_THAT(peers, Not(Contains(own)));
    EXPECT_THAT(peers, SizeIs(own == centre ? kMeshPeers : kMeshPeers + 1));
    EXPECT_EQ(peers.contains(centre), own != centre);
  }
}

TEST(ChoosePeers, TheChoiceIsSpreadEvenly) {
  const auto nodes = nodes_of(500);
  std::map<std::string, int> asked;
  for (const std::string& own : nodes) {
    for (const std::string& peer : choose_peers(own, nodes, "node-1000", 7)) ++asked[peer];
  }
  int most = 0;
  for (const auto& [node, count] : asked) {
    if (node != "node-1000") most = std::max(most, count);
  }
  EXPECT_GE(asked["node-1000"], 499);
  EXPECT_LE(most, 16) << "four on average, and binomial";
  EXPECT_GE(asked.size(), 480U) << "one in fifty is not drawn by anybody";
}

TEST(ChoosePeers, ANodeThatGoesChangesNobodyElsesChoiceButThoseWhoHadDrawnIt) {
  const auto nodes = nodes_of(200);
  auto fewer = nodes;
  fewer.erase("node-1077");
  for (const std::string& own : fewer) {
    const auto before = choose_peers(own, nodes, "node-1000", 7);
    const auto after = choose_peers(own, fewer, "node-1000", 7);
    if (!before.contains("node-1077")) {
      EXPECT_EQ(before, after) << own;
      continue;
    }
    std::set<std::string> kept = before;
    kept.erase("node-1077");
    for (const std::string& peer : kept) EXPECT_THAT(after, Contains(peer)) << own;
    EXPECT_EQ(after.size(), before.size());
  }
}

TEST(ChoosePeers, AnotherRunDrawsAnotherGraph) {
  const auto nodes = nodes_of(200);
  ASSERT_NE(choice_seed("7.0.0"), choice_seed("7.1.0"));
  int same = 0;
  for (const std::string& own : nodes) {
    const auto one = choose_peers(own, nodes, "node-1000", choice_seed("7.0.0"));
    const auto other = choose_peers(own, nodes, "node-1000", choice_seed("7.1.0"));
    same += one == other ? 1 : 0;
  }
  EXPECT_LE(same, 1);
}

}  // namespace
}  // namespace jaxprof::netsampler
