// Answers computed by hand, and by bitmaps.
#include "merge/study/breakdown.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using runfile::MemopKind;
using testing::Contains;
using testing::HasSubstr;
using namespace test;

constexpr const char* kNccl = "ncclDevKernel_AllReduce_Sum_f32_RING_LL";

struct Classes {
  std::int64_t compute = 0, both = 0, exposed = 0, copies = 0, idle = 0;
  bool operator==(const Classes&) const = default;
};

Classes classes_at(const Table& table, std::size_t row) {
  return {whole_at(table, row, "compute_ns"), whole_at(table, row, "both_ns"), whole_at(table, row, "exposed_ns"),
          whole_at(table, row, "copies_ns"), whole_at(table, row, "idle_ns")};
}

TEST(Breakdown, DividesWallTimeIntoFiveClasses) {
  const Table table =
      answer(kBreakdown, run_of_work({.end_ns = 999}, {{.start_ns = 100, .dur_ns = 100},
                                                       {.start_ns = 150, .dur_ns = 150, .kernel = kNccl},
                                                       {.start_ns = 290, .dur_ns = 60, .copy = MemopKind::kHtoD}}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "wall_ns"), 1000);
  EXPECT_EQ(classes_at(table, 0), (Classes{50, 50, 100, 50, 750}));
  EXPECT_DOUBLE_EQ(real_at(table, 0, "hidden_share"), 1.0 / 3);
  EXPECT_TRUE(is_missing_at(table, 0, "idle_host_ns"));
  EXPECT_THAT(table.notes, Contains("idle is not split: the run file has no CUDA API calls"));
}

TEST(Breakdown, SplitsIdleByWhenTheNextWorkWasLaunched) {
  const Table table = answer(
      kBreakdown, run_of_work({.end_ns = 99'999},
                              {{.start_ns = 1'000, .dur_ns = 1'000, .launch_ns = 900},     // 1 000 host: nothing before
                               {.start_ns = 3'000, .dur_ns = 1'000, .launch_ns = 2'500},   // 1 000 host
                               {.start_ns = 9'000, .dur_ns = 1'000, .launch_ns = 3'500},   // 5 000 launch
                               {.start_ns = 30'000, .dur_ns = 1'000, .launch_ns = 9'500},  // 20 000 other
                               {.start_ns = 40'000, .dur_ns = 1'000}}));                   // 9 000 unknown
  EXPECT_EQ(whole_at(table, 0, "idle_host_ns"), 2'000);
  EXPECT_EQ(whole_at(table, 0, "idle_launch_ns"), 5'000);
  EXPECT_EQ(whole_at(table, 0, "idle_other_ns"), 20'000);
  EXPECT_EQ(whole_at(table, 0, "idle_unknown_ns"), 9'000 + 59'000);
}

TEST(Breakdown, TakesCopiesAndKernelsThatCarryOutCallsForCommunication) {
  const Table table =
      answer(kBreakdown, run_of_work({}, {{.start_ns = 0, .dur_ns = 10, .copy = MemopKind::kPtoP, .is_nccl = true},
                                          {.start_ns = 20, .dur_ns = 10, .kernel = "gemm_like", .is_nccl = true}}));
  EXPECT_EQ(whole_at(table, 0, "exposed_ns"), 20);
  EXPECT_EQ(whole_at(table, 0, "copies_ns"), 0);
}

TEST(Breakdown, HasGpusThatDidNothing) {
  const Table table =
      answer(kBreakdown, run_of_work({.gpus = 8, .end_ns = 99}, {{.gpu = 3, .dur_ns = 40}}), by(By::kGpu));
  ASSERT_EQ(table.rows.size(), 8U);
  EXPECT_DOUBLE_EQ(real_at(table, 3, "idle_share"), 0.6);
  EXPECT_DOUBLE_EQ(real_at(table, 4, "idle_share"), 1);
  EXPECT_THAT(table.verdict, HasSubstr("8 GPUs: 5.0 % compute"));
}

TEST(Breakdown, IsOverWindowsOnlyAndLeavesOutWhatIsOutsideOfThem) {
  auto run = run_of_work({}, {{.start_ns = 50, .dur_ns = 10, .flags = runfile::kWorkOutside},
                              {.start_ns = 90, .dur_ns = 30},
                              {.start_ns = 190, .dur_ns = -1, .flags = runfile::kWorkNoTime}});
  add_segment(run, 0, 0, 100, 200);
  const Table table = answer(kBreakdown, run);
  EXPECT_EQ(whole_at(table, 0, "wall_ns"), 100);
  EXPECT_EQ(whole_at(table, 0, "compute_ns"), 20);
  EXPECT_THAT(table.notes, Contains("left out: 1 kernels and copies outside of windows"));
  EXPECT_THAT(table.notes, Contains("left out: 1 kernels and copies without a start or a length"));
}

TEST(Breakdown, OfStepsAddsUpToThatOfRanks) {
  auto run =
      run_of_work({.processes = 2}, {{.start_ns = 100, .dur_ns = 150}, {.process = 1, .start_ns = 250, .dur_ns = 100}});
  add_steps(run, 0, {{1, 100, 100}, {2, 200, 100}});
  add_steps(run, 1, {{1, 100, 100}, {2, 210, 100}});
  run.step_process_offset = {0, 2, 4};
  const Table by_step = answer(kBreakdown, run, by(By::kStep));
  ASSERT_EQ(by_step.rows.size(), 2U);
  EXPECT_EQ(whole_at(by_step, 0, "step"), 1);
  EXPECT_EQ(whole_at(by_step, 0, "gpus"), 2);
  EXPECT_EQ(whole_at(by_step, 0, "wall_ns"), 210);
  EXPECT_EQ(whole_at(by_step, 0, "compute_ns"), 100);
  EXPECT_EQ(whole_at(by_step, 1, "compute_ns"), 50 + 60);
}

TEST(Breakdown, AgreesWithBitmapsWhateverOverlaps) {
  constexpr std::size_t kInstants = 1500;
  std::mt19937_64 random{5};
  for (int round = 0; round < 25; ++round) {
    std::vector<Work> work;
    std::vector<unsigned> bits(3 * kInstants, 0);
    for (std::size_t i = 0; i < 1 + random() % 40; ++i) {
      const auto gpu = static_cast<std::int32_t>(random() % 3);
      Work one{.gpu = gpu,
               .start_ns = static_cast<std::int64_t>(random() % 1200),
               .dur_ns = static_cast<std::int64_t>(random() % 250)};
      const auto kind = static_cast<unsigned>(random() % 3);
      if (kind == 1) one.kernel = kNccl;
      if (kind == 2) one.copy = MemopKind::kDtoH;
      work.push_back(one);
      for (auto t = one.start_ns; t < one.start_ns + one.dur_ns; ++t) {
        bits[static_cast<std::size_t>(gpu) * kInstants + static_cast<std::size_t>(t)] |= 1U << kind;
      }
    }
    Classes expected;
    for (std::size_t i = 0; i < bits.size(); ++i) {
      if (i % kInstants < 200 || i % kInstants >= 1100) continue;
      const bool is_compute = (bits[i] & 1U) != 0;
      const bool is_comm = (bits[i] & 2U) != 0;
      expected.both += is_compute && is_comm ? 1 : 0;
      expected.compute += is_compute && !is_comm ? 1 : 0;
      expected.exposed += !is_compute && is_comm ? 1 : 0;
      expected.copies += bits[i] == 4 ? 1 : 0;
      expected.idle += bits[i] == 0 ? 1 : 0;
    }
    const Table table = answer(kBreakdown, run_of_work({.gpus = 3}, work), in_window(200, 1100));
    ASSERT_EQ(table.rows.size(), 1U);
    EXPECT_EQ(classes_at(table, 0), expected);
    EXPECT_EQ(whole_at(table, 0, "wall_ns"), 2700);
  }
}

TEST(Breakdown, HoldsTheFarthestTimesThatAFileCanHave) {
  constexpr std::int64_t kFarthest = std::numeric_limits<std::int64_t>::max();
  std::vector<Work> work;
  for (std::int32_t gpu = 0; gpu < 4; ++gpu) {
    work.push_back({.gpu = gpu, .start_ns = 0, .dur_ns = kFarthest, .is_nccl = gpu % 2 == 0});
    work.push_back({.gpu = gpu, .start_ns = kFarthest - 1, .dur_ns = kFarthest});
  }
  const Table table = answer(kBreakdown, run_of_work({.gpus = 4, .end_ns = kFarthest - 1}, work));
  EXPECT_EQ(whole_at(table, 0, "wall_ns"), kFarthest);
}

TEST(Breakdown, SaysWhyItIsEmpty) {
  EXPECT_THAT(answer(kBreakdown, run_of_work({}, {})).empty_reason, HasSubstr("the run file has no kernels or copies"));
  auto run = run_of_work({}, {{.start_ns = 1, .dur_ns = 1}});
  add_segment(run, 0, 0, 0, 100);
  EXPECT_THAT(answer(kBreakdown, run, in_window(500, 600)).empty_reason, HasSubstr("none of the time"));
}

}  // namespace
}  // namespace jaxprof::study
