#include "tests/synthetic/slowdown.h"

#include <gtest/gtest.h>

namespace jaxprof::synthetic {
namespace {

TEST(ParseSlowdown, TakesAPlaceAnAmountAndSteps) {
  const auto slowdown = parse_slowdown("slow-kernels:node3:1.25:4-6");
  ASSERT_TRUE(slowdown) << slowdown.error().message;
  EXPECT_EQ(slowdown->kind, SlowdownKind::kSlowKernels);
  EXPECT_EQ(slowdown->where, Slowdown::Where::kNode);
  EXPECT_EQ(slowdown->number, 3U);
  EXPECT_EQ(slowdown->factor, 1.25);
  EXPECT_FALSE(slowdown->is_in(3));
  EXPECT_TRUE(slowdown->is_in(4));
  EXPECT_TRUE(slowdown->is_in(6));
  EXPECT_FALSE(slowdown->is_in(7));
}

TEST(ParseSlowdown, TakesMicrosecondsWhereSomethingTakesLonger) {
  const auto slowdown = parse_slowdown("host-stall:rank2:0.5");
  ASSERT_TRUE(slowdown) << slowdown.error().message;
  EXPECT_EQ(slowdown->extra_ns, 500);
  EXPECT_TRUE(slowdown->is_in(UINT32_MAX));
}

TEST(ParseSlowdown, KnowsAPortByItsNode) {
  const auto slowdown = parse_slowdown("slow-nic:node2.1:3");
  ASSERT_TRUE(slowdown) << slowdown.error().message;
  EXPECT_EQ(slowdown->where, Slowdown::Where::kPort);
  EXPECT_EQ(slowdown->number, 2U);
  EXPECT_EQ(slowdown->port, 1U);
}

TEST(ParseSlowdown, RefusesWhatItDoesNotMean) {
  for (const char* text :
       {"", "host-stall", "host-stall:rank1", "slow-disk:rank1:3", "host-stall:rank:3", "host-stall:rank-1:3",
        "host-stall:rank1:0", "host-stall:rank1:-5", "slow-kernels:rank1:1", "slow-kernels:network:2",
        "slow-nic:node1:2", "slow-nic:node1.0.0:2", "slow-network:rank1:2",
        "host-stall:rank1:5:", "host-stall:rank1:5:6-4", "host-stall:rank1:5:1-2-3", "host-stall:rank1:5:1:2"}) {
    EXPECT_FALSE(parse_slowdown(text)) << text;
  }
}

TEST(Slowdown, GoesRoundTheRanks) {
  const auto slowdown = parse_slowdown("host-stall:rotating6:100");
  ASSERT_TRUE(slowdown) << slowdown.error().message;
  for (std::uint32_t step = 0; step < 10; ++step) {
    for (std::uint32_t rank = 0; rank < 8; ++rank) {
      EXPECT_EQ(slowdown->acts_on(rank, 0, step, 8), rank == (6 + step) % 8);
    }
  }
}

}  // namespace
}  // namespace jaxprof::synthetic
