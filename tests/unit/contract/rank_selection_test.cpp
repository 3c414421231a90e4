#include "agent/contract/rank_selection.h"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <set>
#include <string>

#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

RankIdentity rank_of(std::int32_t rank, std::int32_t world_size = 8) {
  RankIdentity identity;
  identity.rank = rank;
  identity.world_size = world_size;
  identity.local_rank = rank < 0 ? -1 : rank % 2;
  identity.node_index = rank < 0 ? -1 : rank / 2;
  return identity;
}

SelectionResult select(const RankSelection& selection, const RankIdentity& rank) {
  const test::Environment nothing{};
  return is_selected(selection, rank, nothing.env());
}

TEST(CheckNumberList, TakesNumbersRangesAndStrides) {
  std::size_t offset = 0;
  for (const char* list : {"8", "0-15", "0-1023:128", "0,8-15,0-1023:128", "3-3"}) {
    EXPECT_TRUE(check_number_list(list, &offset)) << list;
  }
}

TEST(CheckNumberList, SaysWhereItIsWrong) {
  const std::pair<const char*, std::size_t> cases[] = {{"", 0},    {"a", 0},     {"1,", 2},   {"1,,2", 2}, {"1-", 2},
                                                       {"5-3", 3}, {"1-9:0", 5}, {"1-9:", 4}, {"1;2", 1},  {"1 ", 1},
                                                       {"-1", 0},  {"1:2", 1},   {"1-2-3", 3}};
  for (const auto& [list, expected] : cases) {
    std::size_t offset = 99;
    EXPECT_FALSE(check_number_list(list, &offset)) << list;
    EXPECT_EQ(offset, expected) << list;
  }
}

TEST(LargestInNumberList, IsANumberThatTheListNames) {
  const std::pair<const char*, std::uint64_t> cases[] = {{"8", 8},       {"9,3", 9},
                                                         {"0-15", 15},   {"0-1023:128", 896},
                                                         {"4,0-3,2", 4}, {"0-18446744073709551615:7", UINT64_MAX - 1}};
  for (const auto& [list, largest] : cases) {
    EXPECT_EQ(largest_in_number_list(list), largest) << list;
    EXPECT_TRUE(number_list_contains(list, largest)) << list;
  }
}

TEST(NumberListContains, AgreesWithASetOnRandomLists) {
  std::mt19937 random(7);
  for (int round = 0; round < 2000; ++round) {
    std::set<std::uint64_t> expected;
    std::string list;
    for (auto parts = 1 + random() % 4; parts > 0; --parts) {
      const std::uint64_t first = random() % 40, last = first + random() % 20, stride = 1 + random() % 5;
      const auto form = random() % 3;
      list += (list.empty() ? "" : ",") + std::to_string(first);
      if (form > 0) list += "-" + std::to_string(last);
      if (form > 1) list += ":" + std::to_string(stride);
      for (std::uint64_t n = first; n <= (form > 0 ? last : first); n += form > 1 ? stride : 1) expected.insert(n);
    }
    std::size_t offset = 0;
    ASSERT_TRUE(check_number_list(list.c_str(), &offset)) << list;
    for (std::uint64_t n = 0; n < 64; ++n) {
      ASSERT_EQ(number_list_contains(list.c_str(), n), expected.contains(n)) << list << " and " << n;
    }
  }
}

TEST(IsSampledRank, TakesExactlySoManyEvenlyWithRankZero) {
  for (std::int32_t size = 1; size <= 70; ++size) {
    for (std::uint32_t count = 1; count <= 80; ++count) {
      std::int32_t taken = 0, last = 0, widest = 0;
      for (std::int32_t rank = 0; rank < size; ++rank) {
        if (!is_sampled_rank(rank, size, count)) continue;
        widest = std::max(widest, rank - last);
        last = rank;
        ++taken;
      }
      ASSERT_EQ(taken, std::min<std::int32_t>(size, static_cast<std::int32_t>(count))) << size << " " << count;
      ASSERT_TRUE(is_sampled_rank(0, size, count));
      ASSERT_LE(widest, size / taken + 1);
    }
  }
  EXPECT_FALSE(is_sampled_rank(-1, 8, 4));
  EXPECT_FALSE(is_sampled_rank(8, 8, 4));
}

TEST(IsSelected, NothingGivenSelectsAllEvenUnknownRanks) {
  EXPECT_TRUE(RankSelection().selects_all());
  EXPECT_EQ(select(RankSelection(), RankIdentity()).selected, Selected::kYes);
}

TEST(IsSelected, AllPartsMustHold) {
  RankSelection selection;
  std::strcpy(selection.ranks, "0-5");
  std::strcpy(selection.local_ranks, "1");
  std::strcpy(selection.nodes, "1-3");
  std::strcpy(selection.condition, "rank != 5");
  std::string taken;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    if (select(selection, rank_of(rank)).selected == Selected::kYes) taken += std::to_string(rank);
  }
  EXPECT_EQ(taken, "3");
}

TEST(IsSelected, AnUnknownNumberIsNamed) {
  RankSelection selection;
  std::strcpy(selection.local_ranks, "0");
  EXPECT_STREQ(select(selection, RankIdentity()).unknown, "local rank, which is not known here");
  EXPECT_EQ(select(selection, RankIdentity()).selected, Selected::kUnknown);
  RankSelection sampled;
  sampled.sample_ranks = 2;
  EXPECT_STREQ(select(sampled, rank_of(3, -1)).unknown, "world size, which is not known here");
  RankSelection condition;
  std::strcpy(condition.condition, "SLURM_LOCALID==0");
  EXPECT_STREQ(select(condition, rank_of(3)).unknown, "SLURM_LOCALID, which is not known here");
}

TEST(IsSelected, AKnownNoWinsOverTheUnknown) {
  RankSelection selection;
  std::strcpy(selection.ranks, "0");
  std::strcpy(selection.condition, "NOT_SET==1");
  EXPECT_EQ(select(selection, rank_of(3)).selected, Selected::kNo);
  EXPECT_EQ(select(selection, rank_of(0)).selected, Selected::kUnknown);
}

TEST(IsTaskSelected, DecidesByNodeAndConditionOnly) {
  const test::Environment environment{"SLURM_NODEID=1"};
  RankSelection selection;
  std::strcpy(selection.ranks, "100");
  std::strcpy(selection.nodes, "1");
  EXPECT_EQ(is_task_selected(selection, rank_of(2), environment.env()).selected, Selected::kYes);
  EXPECT_EQ(is_task_selected(selection, rank_of(0), environment.env()).selected, Selected::kNo);
  std::strcpy(selection.condition, "SLURM_NODEID==0");
  EXPECT_EQ(is_task_selected(selection, rank_of(2), environment.env()).selected, Selected::kNo);
  std::strcpy(selection.condition, "rank==2");
  EXPECT_EQ(is_task_selected(selection, rank_of(2), environment.env()).selected, Selected::kUnknown);
}

}  // namespace
}  // namespace jaxprof
