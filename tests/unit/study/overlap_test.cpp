// Answers computed by hand, and by bitmaps.
#include "merge/study/overlap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using testing::Contains;
using testing::HasSubstr;
using namespace test;

TEST(Overlap, TellsWhatOfACallIsHiddenUnderCompute) {
  const Table table =
      answer(kOverlap, run_of_work({}, {{.start_ns = 100, .dur_ns = 50},
                                        {.start_ns = 120, .dur_ns = 100, .kernel = "lying_gemm", .is_nccl = true},
                                        {.start_ns = 200, .dur_ns = 10}}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(text_at(table, 0, "op"), "AllReduce");
  EXPECT_EQ(text_at(table, 0, "over"), "one rank");
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 100);
  EXPECT_EQ(whole_at(table, 0, "hidden_ns"), 40);
  EXPECT_EQ(whole_at(table, 0, "exposed_ns"), 60);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "hidden_share"), 0.4);
  EXPECT_THAT(table.verdict, HasSubstr("40.0 % hidden under compute, 60 ns exposed"));
}

TEST(Overlap, ComparesACallWithItsOwnGpuOnly) {
  const Table table = answer(kOverlap,
                             run_of_work({.gpus = 8}, {{.gpu = 0, .start_ns = 0, .dur_ns = 500},
                                                       {.gpu = 7, .start_ns = 100, .dur_ns = 100, .is_nccl = true}}),
                             by(By::kGpu));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "gpu"), 7);
  EXPECT_EQ(whole_at(table, 0, "hidden_ns"), 0);
}

TEST(Overlap, LeavesOutCallsOfWhichTheGpuIsNotKnown) {
  auto run = run_of_work({.gpus = 2}, {{.start_ns = 100, .dur_ns = 100, .is_nccl = true},
                                       {.start_ns = 300, .dur_ns = 100, .is_nccl = true}});
  run.nccl.device[0] = -1;
  const Table table = answer(kOverlap, run);
  EXPECT_EQ(whole_at(table, 0, "count"), 1);
  EXPECT_THAT(table.notes, Contains("left out: 1 calls of which it is not known on which GPU they ran"));
}

TEST(Overlap, CountsAKernelThatCarriedOutSeveralCallsInEach) {
  auto run = run_of_work({}, {{.start_ns = 100, .dur_ns = 100, .is_nccl = true},
                              {.start_ns = 100, .dur_ns = 0, .is_nccl = true},
                              {.start_ns = 150, .dur_ns = 500}});
  run.nccl.gpu_dur_ns[1] = 100;  // a group of two, and one kernel for both
  run.nccl_work.kernel[1] = run.nccl_work.kernel[0];
  const Table table = answer(kOverlap, run);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "count"), 2);
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 200);
  EXPECT_EQ(whole_at(table, 0, "hidden_ns"), 100);
}

TEST(Overlap, AgreesWithBitmapsAndNeverExceedsTheCall) {
  constexpr std::size_t kInstants = 3000;
  std::mt19937_64 random{8};
  for (int round = 0; round < 20; ++round) {
    std::vector<Work> work;
    std::vector<bool> is_compute(kInstants, false);
    for (int i = 0; i < 60; ++i) {
      Work one{.start_ns = static_cast<std::int64_t>(10 + random() % 2500),
               .dur_ns = static_cast<std::int64_t>(random() % 200)};
      one.is_nccl = random() % 3 == 0;
      work.push_back(one);
      for (auto t = one.start_ns; !one.is_nccl && t < one.start_ns + one.dur_ns; ++t)
        is_compute[static_cast<std::size_t>(t)] = true;
    }
    std::int64_t hidden_ns = 0;
    std::int64_t total_ns = 0;
    for (const Work& one : work) {
      for (auto t = one.start_ns; one.is_nccl && t < one.start_ns + one.dur_ns; ++t) {
        ++total_ns;
        hidden_ns += is_compute[static_cast<std::size_t>(t)] ? 1 : 0;
      }
    }
    const Table table = answer(kOverlap, run_of_work({}, work));
    EXPECT_EQ(whole_at(table, 0, "total_ns"), total_ns);
    EXPECT_EQ(whole_at(table, 0, "hidden_ns"), hidden_ns);
    EXPECT_GE(whole_at(table, 0, "exposed_ns"), 0);
  }
}

TEST(Overlap, SaysWhyItIsEmpty) {
  EXPECT_THAT(answer(kOverlap, run_of_work({}, {})).empty_reason, HasSubstr("no NCCL calls"));
  auto run = run_of_work({}, {{.start_ns = 10, .dur_ns = 10, .is_nccl = true}});
  run.nccl.gpu_start_ns[0] = run.nccl.gpu_dur_ns[0] = -1;
  EXPECT_THAT(answer(kOverlap, run).empty_reason, HasSubstr("none of the 1 NCCL calls in scope has GPU times"));
}

}  // namespace
}  // namespace jaxprof::study
