// Answers computed by hand.
#include "merge/study/memops.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using runfile::MemopKind;
using testing::Contains;
using testing::HasSubstr;
using namespace test;

TEST(Memops, HaveTimesSizesAndBandwidthByKind) {
  auto run = run_of_work({}, {{.start_ns = 0, .dur_ns = 100, .copy = MemopKind::kHtoD, .bytes = 1000},
                              {.start_ns = 200, .dur_ns = 300, .copy = MemopKind::kHtoD, .bytes = 3000},
                              {.start_ns = 900, .dur_ns = 50, .copy = MemopKind::kMemset, .bytes = 64}});
  run.memops.src[0] = runfile::MemoryKind::kPageable;
  const Table table = answer(kMemops, run);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text_at(table, 0, "operation"), "HtoD");
  EXPECT_EQ(whole_at(table, 0, "count"), 2);
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 400);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "p50_ns"), 200);
  EXPECT_EQ(whole_at(table, 0, "total_bytes"), 4000);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "gb_per_s"), 10);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "time_share"), 400.0 / 450);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "wall_share"), 400.0 / 10'001);
  EXPECT_EQ(whole_at(table, 0, "pageable"), 1);
  EXPECT_EQ(text_at(table, 1, "operation"), "memset");
  EXPECT_THAT(table.verdict, HasSubstr("longest: HtoD, 88.9 % of the time, 10.0 GB/s"));
}

TEST(Memops, OfAGpuStandForItsWallTime) {
  const auto run = run_of_work({.gpus = 2}, {{.gpu = 1, .dur_ns = 100, .copy = MemopKind::kDtoH, .is_nccl = true}});
  const Table by_gpu = answer(kMemops, run, by(By::kGpu));
  ASSERT_EQ(by_gpu.rows.size(), 1U);
  EXPECT_DOUBLE_EQ(real_at(by_gpu, 0, "wall_share"), 100.0 / 10'001);
  EXPECT_EQ(whole_at(by_gpu, 0, "nccl"), 1);
  EXPECT_DOUBLE_EQ(real_at(answer(kMemops, run, by(By::kRank)), 0, "wall_share"), 100.0 / 20'002);
}

TEST(Memops, OfTheRunStandForTheWallTimeOfGpusWithoutAnyToo) {
  const auto run = run_of_work({.processes = 2, .gpus = 2}, {{.dur_ns = 100, .copy = MemopKind::kDtoH}});
  EXPECT_DOUBLE_EQ(real_at(answer(kMemops, run), 0, "wall_share"), 100.0 / 40'004);
  EXPECT_DOUBLE_EQ(real_at(answer(kMemops, run, by(By::kRank)), 0, "wall_share"), 100.0 / 20'002);
}

TEST(Memops, SayWhatIsLeftOutAndWhyThereAreNone) {
  const Table table =
      answer(kMemops, run_of_work({}, {{.start_ns = 0, .dur_ns = -1, .copy = MemopKind::kDtoD, .flags = 1},
                                       {.start_ns = 5, .dur_ns = 1, .copy = MemopKind::kDtoD, .flags = 8},
                                       {.start_ns = 9, .dur_ns = 1, .copy = MemopKind::kDtoD}}));
  EXPECT_EQ(whole_at(table, 0, "count"), 1);
  EXPECT_THAT(table.notes, Contains("left out: 1 kernels and copies outside of windows"));
  EXPECT_THAT(answer(kMemops, run_of_work({}, {})).empty_reason, HasSubstr("no copies or sets of GPU memory"));
}

}  // namespace
}  // namespace jaxprof::study
