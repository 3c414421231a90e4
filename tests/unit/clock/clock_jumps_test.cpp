// Jumps on links, and whose they were.
#include <gtest/gtest.h>

#include <cmath>

#include "merge/clock/link_jumps.h"
#include "merge/clock/node_cuts.h"
#include "tests/simulator/sim_random.h"

namespace jaxprof::clock {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

// Bursts every ten seconds whose intervals are 50 µs and a bit wide; b's clock is ahead by what `ahead_ns` says of the
// true time, at which a's reads `a_zero_ns` more.
template <typename Ahead>
ProbeLink link_of(std::uint32_t a, std::uint32_t b, int bursts, const Ahead& ahead_ns, std::int64_t a_zero_ns = 0) {
  test::SimRandom random(a * 1000 + b);
  ProbeLink link(a, b);
  for (int i = 0; i < bursts; ++i) {
    const double at_s = 10 * i + random.uniform(0, 3);
    const std::int64_t a_ns = a_zero_ns + std::llround(at_s * 1e9);
    const std::int64_t b_ns = a_ns + std::llround(ahead_ns(at_s));
    ExchangeTimes times;
    times.from_a = {a_ns, b_ns + 25'000 + std::llround(random.exponential(3000)), 0};
    times.from_b = {a_ns, b_ns - 25'000 - std::llround(random.exponential(3000)), 0};
    times.round_trip_ns = 50'000;
    times.is_kernel = true;
    EXPECT_TRUE(link.add({times}, static_cast<std::uint32_t>(i), true));
  }
  link.put_in_order();
  return link;
}

double jump_at(double at_s, double jump_s, double size_ns) {
  return 7e12 + 40e3 * at_s + (at_s < jump_s ? 0 : size_ns);
}

TEST(LinkJumps, FindsAJumpItsTimeAndSize) {
  const ProbeLink link = link_of(0, 1, 60, [](double at_s) { return jump_at(at_s, 300, 500e3); });
  const LinkJumps found = find_jumps(link, {});
  ASSERT_EQ(found.jumps.size(), 1U);
  EXPECT_TRUE(found.bad_bursts.empty());
  EXPECT_TRUE(found.jumps[0].is_confirmed);
  EXPECT_NEAR(found.jumps[0].size_ns, 500e3, found.jumps[0].slack_ns);
  EXPECT_LT(found.jumps[0].slack_ns, 150e3);
  EXPECT_LT(link.bursts()[found.jumps[0].before].a_ns, 300 * kSecond);
  EXPECT_GE(link.bursts()[found.jumps[0].after].a_ns, 300 * kSecond);
}

TEST(LinkJumps, ADriftAWobbleOrANewRateIsNoJump) {
  EXPECT_TRUE(find_jumps(link_of(0, 1, 60, [](double at_s) { return 100e3 * at_s; }), {}).jumps.empty());
  EXPECT_TRUE(find_jumps(link_of(0, 1, 60, [](double at_s) { return 3e3 * std::sin(at_s / 15); }), {}).jumps.empty());
  const auto bend = [](double at_s) { return at_s < 300 ? 0 : 50e3 * (at_s - 300); };
  const LinkJumps bent = find_jumps(link_of(0, 1, 60, bend), {});
  EXPECT_TRUE(bent.jumps.empty());
  EXPECT_TRUE(bent.bad_bursts.empty());
}

TEST(LinkJumps, FindsNoOtherBesideAnEarlyJump) {
  // Of the two bursts before it and the first behind alone one could take the second for the first after a jump.
  const ProbeLink link = link_of(0, 1, 20, [](double at_s) { return jump_at(at_s, 15, -3e6); });
  const LinkJumps found = find_jumps(link, {});
  ASSERT_EQ(found.jumps.size(), 1U);
  EXPECT_EQ(found.jumps[0].before, 1U);
  EXPECT_TRUE(found.bad_bursts.empty());
}

TEST(LinkJumps, ASeenChangeOfClockSourceExplainsANewRateAtTheStart) {
  const auto bend = [](double at_s) { return at_s < 15 ? 0 : -300e3 * (at_s - 15); };
  EXPECT_TRUE(find_jumps(link_of(0, 1, 20, bend), std::vector<SourceChange>{{0, 15 * kSecond}}).jumps.empty());
}

TEST(LinkJumps, ASingleStrangeBurstIsBadAndNoJump) {
  const auto strange = [](double at_s) { return at_s >= 300 && at_s < 310 ? 900e3 : 0; };
  const LinkJumps found = find_jumps(link_of(0, 1, 60, strange), {});
  EXPECT_TRUE(found.jumps.empty());
  EXPECT_EQ(found.bad_bursts, std::vector<std::uint32_t>{30});
}

TEST(LinkJumps, SaysNothingOfTooFewBursts) {
  EXPECT_TRUE(find_jumps(ProbeLink(0, 1), {}).jumps.empty());
  EXPECT_TRUE(find_jumps(link_of(0, 1, 1, [](double) { return 0.0; }), {}).jumps.empty());
  EXPECT_TRUE(find_jumps(link_of(0, 1, 2, [](double at_s) { return jump_at(at_s, 5, 1e6); }), {}).jumps.empty());
}

// What node's clock reads at the start of the run.
std::int64_t zero_of(std::uint32_t node) {
  return 7000 * kSecond * node;
}

// A full mesh in which `node` jumps after 300 s.
std::vector<ProbeLink> mesh(std::uint32_t nodes, std::uint32_t node, double size_ns) {
  std::vector<ProbeLink> links;
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = a + 1; b < nodes; ++b) {
      const double on_link_ns = b == node ? size_ns : a == node ? -size_ns : 0;
      const auto apart_ns = static_cast<double>(zero_of(b) - zero_of(a));
      const auto ahead_ns = [=](double at_s) { return apart_ns + (at_s < 300 ? 0 : on_link_ns); };
      links.push_back(link_of(a, b, 60, ahead_ns, zero_of(a)));
    }
  }
  return links;
}
std::vector<NodeCut> cuts_of(std::uint32_t nodes, const std::vector<ProbeLink>& links,
                             const std::vector<SourceChange>& changes = {}) {
  std::vector<LinkJumps> jumps;
  for (const ProbeLink& link : links) jumps.push_back(find_jumps(link, changes));
  return find_cuts(nodes, 0, links, jumps, changes);
}

TEST(NodeCuts, BlamesTheNodeThatJumpedAgainstAll) {
  const std::vector<NodeCut> cuts = cuts_of(5, mesh(5, 3, -500e3));
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].node, 3U);
  EXPECT_EQ(cuts[0].kind, StepKind::kRawJump);
  EXPECT_NEAR(cuts[0].size_ns, -500e3, 150e3);
  EXPECT_LT(cuts[0].before_ns, zero_of(3) + 300 * kSecond);  // by its own clock
  EXPECT_GE(cuts[0].after_ns, zero_of(3) + 300 * kSecond);
  EXPECT_LT(cuts[0].after_ns - cuts[0].before_ns, 14 * kSecond);
}

TEST(NodeCuts, AJumpOfTheReferenceCutsEverybodyElseToo) {
  const std::vector<NodeCut> cuts = cuts_of(5, mesh(5, 0, 500e3));
  ASSERT_EQ(cuts.size(), 5U);
  EXPECT_TRUE(cuts[0].is_own);
  for (std::uint32_t node = 1; node < 5; ++node) {
    EXPECT_EQ(cuts[node].node, node);
    EXPECT_FALSE(cuts[node].is_own);
    EXPECT_GT(cuts[node].after_ns, cuts[node].before_ns);
  }
}

TEST(NodeCuts, OfTwoNodesTheOneThatIsNotTheReferenceIsNamed) {
  const std::vector<NodeCut> cuts = cuts_of(2, mesh(2, 0, 500e3));
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].node, 1U);
  EXPECT_NEAR(cuts[0].size_ns, -500e3, 150e3);
}

TEST(NodeCuts, AJumpOnOneLinkOfManyIsNobodys) {
  std::vector<ProbeLink> links = mesh(5, 99, 0);
  const std::uint32_t a = links[5].a();
  const std::uint32_t b = links[5].b();
  const auto apart_ns = static_cast<double>(zero_of(b) - zero_of(a));
  links[5] = link_of(
      a, b, 60, [=](double at_s) { return apart_ns + (at_s < 300 ? 0 : 500e3); }, zero_of(a));
  EXPECT_TRUE(cuts_of(5, links).empty());
}

TEST(NodeCuts, AnObservedChangeOfClockSourceIsACutAndExplainsAJump) {
  std::vector<NodeCut> cuts = cuts_of(5, mesh(5, 99, 0), {{2, zero_of(2) + 100 * kSecond}});
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].kind, StepKind::kClockSource);
  EXPECT_EQ(cuts[0].size_ns, 0);
  cuts = cuts_of(5, mesh(5, 4, 500e3), {{4, zero_of(4) + 300 * kSecond}});
  ASSERT_EQ(cuts.size(), 1U);
  EXPECT_EQ(cuts[0].kind, StepKind::kClockSource);
  EXPECT_NEAR(cuts[0].size_ns, 500e3, 150e3);
}

}  // namespace
}  // namespace jaxprof::clock
