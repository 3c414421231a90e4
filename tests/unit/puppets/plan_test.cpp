// How NCCL turns calls into tasks and orders them within a plan.
#include "tests/puppets/plan.h"

#include <gmock/gmock.h>

namespace jaxprof::puppets {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class PlanTest : public testing::Test {
 protected:
  PlanTest() {
    comm_.rank = 1;
    comm_.n_ranks = 3;
  }
  Call call(Function function, std::size_t count, int root = 0) {
    return {.function = function,
            .send_buffer = buffer_.data(),
            .receive_buffer = buffer_.data(),
            .count = count,
            .type = find_option(kDataTypes, "float32"),
            .reduction = find_option(kReductions, "sum"),
            .root = root,
            .comm = &comm_,
            .stream = nullptr};
  }
  static std::vector<std::pair<Function, int>> shape(const std::vector<Task>& tasks) {
    std::vector<std::pair<Function, int>> result;
    for (const Task& task : tasks) {
      result.emplace_back(task.function, task.root);
    }
    return result;
  }

  Communicator comm_;
  std::vector<float> buffer_ = std::vector<float>(64);
};

TEST_F(PlanTest, AllGatherAndBroadcastAreCountedInBytes) {
  for (const Function function : {Function::kAllGather, Function::kBroadcast}) {
    const Task task = make_tasks(call(function, 10), 0).at(0);
    EXPECT_EQ(task.count, 40U);
    EXPECT_STREQ(task.datatype, "ncclInt8");
  }
  const Task reduce = make_tasks(call(Function::kAllReduce, 10), 0).at(0);
  EXPECT_EQ(reduce.count, 10U);
  EXPECT_STREQ(reduce.datatype, "ncclFloat32");
}

TEST_F(PlanTest, AlltoAllIsASendAndAReceiveForEachRank) {
  using enum Function;
  EXPECT_THAT(shape(make_tasks(call(kAlltoAll, 4), 0)),
              ElementsAre(std::pair{kSend, 0}, std::pair{kRecv, 0}, std::pair{kSend, 1}, std::pair{kRecv, 1},
                          std::pair{kSend, 2}, std::pair{kRecv, 2}));
}

TEST_F(PlanTest, OnlyTheRootOfAGatherReceives) {
  using enum Function;
  EXPECT_THAT(shape(make_tasks(call(kGather, 4, 0), 0)), ElementsAre(std::pair{kSend, 0}));
  EXPECT_THAT(shape(make_tasks(call(kGather, 4, 1), 0)),
              ElementsAre(std::pair{kSend, 1}, std::pair{kRecv, 0}, std::pair{kRecv, 1}, std::pair{kRecv, 2}));
}

TEST_F(PlanTest, NothingIsMadeOfAnEmptyCallOrASingleRank) {
  EXPECT_THAT(make_tasks(call(Function::kAllReduce, 0), 0), IsEmpty());
  comm_.rank = 0;
  comm_.n_ranks = 1;
  EXPECT_THAT(make_tasks(call(Function::kAllReduce, 8), 0), IsEmpty());
  EXPECT_THAT(make_tasks(call(Function::kAlltoAll, 8), 0), IsEmpty());
  EXPECT_EQ(make_tasks(call(Function::kSend, 8, 0), 0).size(), 1U);
}

TEST_F(PlanTest, CollectivesRunLargestFirstAndPeersByDistance) {
  Plan plan{.comm = &comm_, .stream = nullptr, .collectives = {}, .p2ps = {}};
  plan.collectives.push_back(make_tasks(call(Function::kAllReduce, 1), 0).at(0));
  plan.collectives.push_back(make_tasks(call(Function::kAllReduce, 5), 1).at(0));
  for (const int peer : {0, 1, 2}) {
    plan.p2ps.push_back(make_tasks(call(Function::kSend, 4, peer), 0).at(0));
  }
  plan.arrange();
  EXPECT_EQ(plan.collectives.front().n_record, 1U);
  EXPECT_THAT(shape(plan.p2ps),
              ElementsAre(std::pair{Function::kSend, 1}, std::pair{Function::kSend, 2}, std::pair{Function::kSend, 0}));
}

// The symbols are those of libnccl 2.28.9.
TEST_F(PlanTest, KernelsHaveTheSymbolsOfNccl) {
  Plan plan{
      .comm = &comm_, .stream = nullptr, .collectives = make_tasks(call(Function::kAllReduce, 100'000), 0), .p2ps = {}};
  EXPECT_EQ(kernel_name(plan), "_Z39ncclDevKernel_AllReduce_Sum_f32_RING_LL24ncclDevKernelArgsStorageILm4096EE");
  EXPECT_EQ(kernel_channels(plan), 4U);
  plan.collectives = make_tasks(call(Function::kAllGather, 64), 0, Carrier::kSymmetricKernel);
  plan.carrier = Carrier::kSymmetricKernel;
  EXPECT_EQ(kernel_name(plan), "_Z30ncclSymkDevKernel_AllGather_LL21ncclSymkDevWorkArgs4K");
  plan.collectives.clear();
  plan.p2ps = make_tasks(call(Function::kSend, 64, 2), 0);
  EXPECT_EQ(kernel_name(plan), "_Z22ncclDevKernel_SendRecv24ncclDevKernelArgsStorageILm4096EE");
}

TEST_F(PlanTest, CopyEnginesLeaveAnAllToAllWhole) {
  EXPECT_EQ(make_tasks(call(Function::kAlltoAll, 1), 0).size(), 6U);
  const std::vector<Task> tasks = make_tasks(call(Function::kAlltoAll, 1), 0, Carrier::kCopyEngines);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].carrier, Carrier::kCopyEngines);
  EXPECT_EQ(make_tasks(call(Function::kReduce, 1), 0, Carrier::kCopyEngines).at(0).carrier, Carrier::kKernel);
}

}  // namespace
}  // namespace jaxprof::puppets
