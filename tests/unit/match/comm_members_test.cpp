#include "merge/match/comm_members.h"

#include <gtest/gtest.h>

namespace jaxprof::match {
namespace {

constexpr std::uint64_t kComm = 0xabcdef;
constexpr std::uint32_t kThread = 0;

std::vector<PayloadField> comm_range(std::int64_t rank, std::int64_t rank_count, std::int64_t device,
                                     std::int64_t comm = kComm) {
  return {{"NCCL communicator ID", comm, ""},
          {"No. of ranks", rank_count, ""},
          {"Rank", rank, ""},
          {"CUDA device", device, ""}};
}

rundir::Communicator plugin_comm(std::int32_t rank, std::int32_t rank_count) {
  rundir::Communicator comm;
  comm.hash = kComm;
  comm.rank = rank;
  comm.rank_count = rank_count;
  comm.node_count = 2;
  return comm;
}

TEST(CommMembers, PluginAndRangeTellOfTheSameMember) {
  CommMembers members;
  members.take_plugin(plugin_comm(3, 8));
  members.take_range("ncclCommInitRankConfig", kThread, comm_range(3, 8, 1));
  members.settle();
  ASSERT_EQ(members.count(kComm), 1u);
  const ProcessComm only = members.all()[0];
  EXPECT_EQ(only.rank, 3);
  EXPECT_EQ(only.rank_count, 8);
  EXPECT_EQ(only.node_count, 2);
  EXPECT_EQ(only.device, 1);
  EXPECT_EQ(members.only_rank(kComm), 3);
}

TEST(CommMembers, EachMemberOfOneProcessHasItsDevice) {
  CommMembers members;
  for (std::int32_t rank = 0; rank < 8; ++rank) {
    members.take_plugin(plugin_comm(rank, 8));
    members.take_range("ncclCommInitRank", kThread, comm_range(rank, 8, 7 - rank));
  }
  members.settle();
  EXPECT_EQ(members.count(kComm), 8u);
  EXPECT_EQ(members.only_rank(kComm), -1) << "which of them, nobody said";
  for (std::int32_t rank = 0; rank < 8; ++rank) EXPECT_EQ(members.device(kComm, rank), 7 - rank);
  EXPECT_EQ(members.device(kComm, 8), -1);
}

TEST(CommMembers, TheEndOfASplitCommunicatorTellsItsDevice) {
  CommMembers members;
  members.take_plugin(plugin_comm(1, 2));
  members.take_range("ncclCommSplit", kThread, comm_range(5, 8, 6));  // its parent's
  EXPECT_EQ(members.device(kComm, 1), -1);
  members.take_range("ncclCommDestroy", kThread, comm_range(1, 2, 6));
  EXPECT_EQ(members.device(kComm, 1), 6);
  EXPECT_EQ(members.count(kComm), 1u);
}

TEST(CommMembers, ACommunicatorWithoutAnIdYetIsNone) {
  CommMembers members;
  members.take_range("ncclCommInitRank", kThread, comm_range(0, 8, 0, 0));
  EXPECT_TRUE(members.all().empty());
}

TEST(CommMembers, ACallMakesAMemberOnlyWhereNobodyToldOfOne) {
  CommMembers members;
  members.take_plugin(plugin_comm(2, 4));
  members.take_call(kComm);
  members.take_call(77);
  members.settle();
  EXPECT_EQ(members.count(kComm), 1u);
  EXPECT_EQ(members.count(77), 1u);
  EXPECT_EQ(members.only_rank(77), -1);
  EXPECT_EQ(members.device(77, -1), -1);
}

TEST(CommMembers, AMemberWithoutARankIsOneOfTheKnown) {
  CommMembers members;
  std::vector<PayloadField> end = comm_range(0, 8, 5);
  end.erase(end.begin() + 2);
  members.take_range("ncclCommDestroy", kThread, end);
  EXPECT_EQ(members.only_rank(kComm), -1);
  members.take_plugin(plugin_comm(3, -1));
  members.settle();
  EXPECT_EQ(members.only_rank(kComm), 3);
  EXPECT_EQ(members.all()[0].rank_count, 8);
}

}  // namespace
}  // namespace jaxprof::match
