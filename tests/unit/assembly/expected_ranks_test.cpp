#include "merge/assembly/expected_ranks.h"

#include <gtest/gtest.h>

namespace jaxprof::assembly {
namespace {

TEST(IsExpected, AllRanksWithoutASelection) {
  EXPECT_EQ(is_expected("", 5, 8), Expectation::kYes);
}

TEST(IsExpected, FollowsRankLists) {
  EXPECT_EQ(is_expected("--ranks 0,4-6", 5, 8), Expectation::kYes);
  EXPECT_EQ(is_expected("--ranks 0,4-6", 3, 8), Expectation::kNo);
}

TEST(IsExpected, FollowsSamples) {
  EXPECT_EQ(is_expected("--sample-ranks 2", 0, 8), Expectation::kYes);
  EXPECT_EQ(is_expected("--sample-ranks 2", 1, 8), Expectation::kNo);
}

TEST(IsExpected, CannotTellPlaceOrCondition) {
  EXPECT_EQ(is_expected("--nodes 0", 5, 8), Expectation::kUnknown);
  EXPECT_EQ(is_expected("--local-ranks 0", 5, 8), Expectation::kUnknown);
  EXPECT_EQ(is_expected("--if 'SLURM_LOCALID == 0 --ranks 1'", 5, 8), Expectation::kUnknown);
}

TEST(IsExpected, AKnownNoWinsOverAnUnknownPart) {
  EXPECT_EQ(is_expected("--nodes 0 --ranks 1", 5, 8), Expectation::kNo);
  EXPECT_EQ(is_expected("--ranks 1 --if 'rank == 1'", 5, 8), Expectation::kNo);
}

}  // namespace
}  // namespace jaxprof::assembly
