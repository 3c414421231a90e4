// Blame is conserved, falls on who came late, and on nobody else.
#include "merge/study/blame.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace jaxprof::study {
namespace {

using Ns = std::vector<std::int64_t>;

struct Shared {
  WaitSum sum;
  Ns blame_ns;
};

Shared shared(const Ns& start_ns) {
  Shared found;
  found.blame_ns.resize(start_ns.size(), -1);
  found.sum = BlameSharing().share(start_ns, found.blame_ns);
  return found;
}

TEST(Blame, SharesEachIntervalAmongThoseWhoAreNotThere) {
  // 1 waits 20 for 3, then 1 and 2 together wait 2 x 30.
  const Shared found = shared({100, 110, 140});
  EXPECT_EQ(found.blame_ns, (Ns{0, 5, 65}));
  EXPECT_EQ(found.sum.wait_ns, 70);
  EXPECT_EQ(found.sum.removable_ns, 60);
}

TEST(Blame, GivesTheRemainderToTheLast) {
  EXPECT_EQ(shared({0, 1, 1, 1}).blame_ns, (Ns{0, 0, 0, 1}));
}

TEST(Blame, IsNothingWhereNobodyWaits) {
  EXPECT_EQ(shared({7, 7, 7}).blame_ns, (Ns{0, 0, 0}));
  EXPECT_EQ(shared({7}).blame_ns, (Ns{0}));
  EXPECT_EQ(shared({}).sum.wait_ns, 0);
}

TEST(Blame, OfOneLateMemberIsAllItsOwn) {
  const Shared found = shared({5, 5, 1005, 5});
  EXPECT_EQ(found.blame_ns, (Ns{0, 0, 3000, 0}));
  EXPECT_EQ(found.sum.removable_ns, 3000);
}

TEST(Blame, DoesNotOverflowOnTimesThatCannotBe) {
  constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max();
  const Shared found = shared({std::numeric_limits<std::int64_t>::min(), 0, kFar});
  EXPECT_EQ(found.blame_ns, (Ns{0, 0, 0}));
  EXPECT_EQ(found.sum.wait_ns, 0);
  EXPECT_EQ(shared({0, kFar / 2}).sum.wait_ns, kFar / 2);
}

TEST(Blame, IsConservedAndLeavesTheFirstWithoutAny) {
  std::mt19937_64 random(20261130);
  for (int round = 0; round < 3000; ++round) {
    const std::size_t n = 1 + random() % 70;
    const std::int64_t widest_ns = std::int64_t{1} << (random() % 45);
    Ns start_ns(n);
    for (std::int64_t& t_ns : start_ns) {
      t_ns = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(widest_ns));
      if (random() % 4 == 0) t_ns = start_ns.front();  // ties
    }
    const Shared found = shared(start_ns);
    const std::int64_t last_ns = *std::max_element(start_ns.begin(), start_ns.end());
    const std::int64_t first_ns = *std::min_element(start_ns.begin(), start_ns.end());
    std::int64_t waits_ns = 0;
    for (const std::int64_t t_ns : start_ns) waits_ns += last_ns - t_ns;
    EXPECT_EQ(found.sum.wait_ns, waits_ns);
    EXPECT_EQ(std::accumulate(found.blame_ns.begin(), found.blame_ns.end(), std::int64_t{0}), waits_ns);
    for (std::size_t i = 0; i < n; ++i) {
      EXPECT_GE(found.blame_ns[i], 0);
      if (start_ns[i] == first_ns && first_ns != last_ns) {
        EXPECT_EQ(found.blame_ns[i], 0);
      }
      for (std::size_t j = 0; j < n; ++j) {
        if (start_ns[i] < start_ns[j]) {
          EXPECT_LE(found.blame_ns[i], found.blame_ns[j]);
        }
      }
    }
  }
}

TEST(Blame, DoesNotDependOnTheOrderOfMembers) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    Ns start_ns(2 + random() % 20);
    std::iota(start_ns.begin(), start_ns.end(), 0);
    for (std::int64_t& t_ns : start_ns) t_ns = t_ns * 1000 + static_cast<std::int64_t>(random() % 1000);
    Ns sorted_blame_ns = shared(start_ns).blame_ns;
    std::shuffle(start_ns.begin(), start_ns.end(), random);
    Ns blame_ns = shared(start_ns).blame_ns;
    std::sort(blame_ns.begin(), blame_ns.end());
    EXPECT_EQ(blame_ns, sorted_blame_ns);
  }
}

}  // namespace
}  // namespace jaxprof::study
