// Answers computed by hand.
#include "merge/study/kernels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using runfile::kWorkOutside;
using testing::Contains;
using testing::HasSubstr;
using namespace test;

TEST(Kernels, HasOneRowANameWithNsysColumns) {
  const Table table = answer(kKernels, run_of_work({}, {{.start_ns = 0, .dur_ns = 30},
                                                        {.start_ns = 100, .dur_ns = 10},
                                                        {.start_ns = 200, .dur_ns = 20},
                                                        {.start_ns = 300, .dur_ns = 15, .kernel = "copy_kernel"}}));
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text_at(table, 0, "name"), "gemm");
  EXPECT_EQ(whole_at(table, 0, "count"), 3);
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 60);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "time_share"), 0.8);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "wall_share"), 60.0 / 10'001);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "mean_ns"), 20);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "p50_ns"), 20);
  EXPECT_EQ(whole_at(table, 0, "min_ns"), 10);
  EXPECT_EQ(whole_at(table, 0, "max_ns"), 30);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "std_ns"), 10);
  EXPECT_TRUE(is_missing_at(table, 1, "std_ns"));
}

TEST(Kernels, TellsCommunicationByWhatCarriedOutACallWhateverItsName) {
  const Table table = answer(
      kKernels, run_of_work({}, {{.start_ns = 0, .dur_ns = 50, .kernel = "plain_name", .is_nccl = true},
                                 {.start_ns = 60, .dur_ns = 40, .kernel = "ncclDevKernel_AllReduce_Sum_f32_RING_LL"},
                                 {.start_ns = 200, .dur_ns = 30, .kernel = "both", .is_nccl = true},
                                 {.start_ns = 300, .dur_ns = 5, .kernel = "both"},
                                 {.start_ns = 400, .dur_ns = 3}}));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(text_at(table, 0, "class"), "comm");
  EXPECT_EQ(text_at(table, 1, "class"), "comm");
  EXPECT_EQ(text_at(table, 2, "class"), "mixed");
  EXPECT_EQ(text_at(table, 3, "class"), "compute");
}

TEST(Kernels, LeavesOutWhatHasNoTimeAndWhatIsOutsideOfWindowsAndSaysSo) {
  const Table table = answer(kKernels, run_of_work({}, {{.start_ns = 0, .dur_ns = 30},
                                                        {.start_ns = 50, .dur_ns = -1, .flags = 1},
                                                        {.start_ns = -1, .dur_ns = -1, .flags = 1},
                                                        {.start_ns = 90, .dur_ns = 7, .flags = kWorkOutside}}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "count"), 1);
  EXPECT_THAT(table.notes, Contains("left out: 2 kernels without a start or a length"));
  EXPECT_THAT(table.notes, Contains("left out: 1 kernels outside of windows"));
}

TEST(Kernels, ComparesRanksWithTheirMedian) {
  std::vector<Work> work;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    work.push_back({.process = rank, .start_ns = 10, .dur_ns = rank == 2 ? 150 : 100});
  }
  const Table table = answer(kKernels, run_of_work({.processes = 4}, work));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "imbalance"), 1.5);
  EXPECT_EQ(whole_at(table, 0, "longest_rank"), 2);
  EXPECT_EQ(whole_at(table, 0, "ranks"), 4);
  EXPECT_THAT(table.verdict, HasSubstr("most uneven: gemm, rank 2 takes 1.50 x the median"));
}

TEST(Kernels, GroupsByRankGpuAndNode) {
  std::vector<Work> work;
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    for (std::int32_t gpu = 0; gpu < 2; ++gpu) {
      work.push_back({.process = rank, .gpu = gpu, .start_ns = 10, .dur_ns = 10 * (rank + 1)});
      work.push_back({.process = rank, .gpu = gpu, .start_ns = 100, .dur_ns = 1, .kernel = "small"});
    }
  }
  const auto run = run_of_work({.processes = 4, .gpus = 2, .processes_of_node = 2}, work);
  const Table by_rank = answer(kKernels, run, by(By::kRank));
  ASSERT_EQ(by_rank.rows.size(), 8U);
  EXPECT_EQ(whole_at(by_rank, 3, "rank"), 3);
  EXPECT_EQ(text_at(by_rank, 3, "node"), "n1");
  EXPECT_EQ(whole_at(by_rank, 3, "total_ns"), 80);
  EXPECT_DOUBLE_EQ(real_at(by_rank, 3, "imbalance"), 80.0 / 50);
  EXPECT_DOUBLE_EQ(real_at(by_rank, 3, "wall_share"), 80.0 / (2 * 10'001));
  const Table by_gpu = answer(kKernels, run, by(By::kGpu));
  ASSERT_EQ(by_gpu.rows.size(), 16U);
  EXPECT_EQ(whole_at(by_gpu, 3, "rank"), 1);
  EXPECT_EQ(whole_at(by_gpu, 3, "gpu"), 1);
  EXPECT_EQ(whole_at(by_gpu, 3, "total_ns"), 20);
  const Table by_node = answer(kKernels, run, by(By::kNode));
  ASSERT_EQ(by_node.rows.size(), 4U);
  EXPECT_EQ(text_at(by_node, 1, "node"), "n1");
  EXPECT_EQ(whole_at(by_node, 1, "total_ns"), 2 * (30 + 40));
}

TEST(Kernels, OfEveryGroupingSumUpToTheSame) {
  std::mt19937_64 random{11};
  std::vector<Work> work;
  for (int i = 0; i < 2000; ++i) {
    work.push_back({.process = static_cast<std::uint32_t>(random() % 5),
                    .gpu = static_cast<std::int32_t>(random() % 3),
                    .start_ns = static_cast<std::int64_t>(random() % 9000),
                    .dur_ns = static_cast<std::int64_t>(random() % 800),
                    .kernel = "k" + std::to_string(random() % 7)});
  }
  const auto run = run_of_work({.processes = 5, .gpus = 3, .processes_of_node = 2}, work);
  const auto sum_of = [&](By grouping) {
    const Table table = answer(kKernels, run, by(grouping));
    std::pair<std::int64_t, std::int64_t> sums;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      sums.first += whole_at(table, i, "total_ns");
      sums.second += whole_at(table, i, "count");
    }
    return sums;
  };
  const auto expected = sum_of(By::kRun);
  EXPECT_EQ(expected.second, 2000);
  for (const By grouping : {By::kRank, By::kGpu, By::kNode}) EXPECT_EQ(sum_of(grouping), expected);
}

TEST(Kernels, AreCountedWhereTheyBegan) {
  auto run = run_of_work(
      {}, {{.start_ns = 95, .dur_ns = 30}, {.start_ns = 150, .dur_ns = 100}, {.start_ns = 250, .dur_ns = 9}});
  add_steps(run, 0, {{1, 100, 100}, {2, 200, 100}});
  run.step_process_offset = {0, 2};
  const Table table = answer(kKernels, run, in_steps("1"));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "count"), 1);
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 100);
  EXPECT_THAT(table.heading, HasSubstr("step 1"));
}

TEST(Kernels, SaysWhyThereAreNone) {
  auto run = run_of_work({}, {});
  EXPECT_THAT(answer(kKernels, run).empty_reason, HasSubstr("CUPTI recorded, and told of none"));
  run.processes.gpu_mode[0] = runfile::GpuMode::kUnavailable;
  run.processes.gpu_note[0] = run.strings.intern("libcupti.so was not found");
  EXPECT_THAT(answer(kKernels, run).empty_reason, HasSubstr("CUPTI was unavailable: libcupti.so was not found"));
  run.attributes.trace = "nvtx,nccl";
  EXPECT_THAT(answer(kKernels, run).empty_reason, HasSubstr("-t nvtx,nccl did not ask for them"));
  const auto some = run_of_work({}, {{.start_ns = 5, .dur_ns = 5}});
  EXPECT_THAT(answer(kKernels, some, in_window(50, 60)).empty_reason, HasSubstr("none of the run file's kernels"));
}

}  // namespace
}  // namespace jaxprof::study
