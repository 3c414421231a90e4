#include "merge/study/nvtx.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using testing::Contains;
using testing::HasSubstr;
using namespace test;

TEST(Nvtx, HasTimesOfRangesOnTheHostAndOnTheGpu) {
  auto run = run_of_work({}, {});
  set_ranges(run, {{.name = "step", .start_ns = 0, .dur_ns = 100, .gpu_dur_ns = 250, .gpu_ops = 7},
                   {.name = "mlp", .start_ns = 0, .dur_ns = 40, .parent = 0, .gpu_dur_ns = 30, .gpu_ops = 3},
                   {.name = "mlp", .start_ns = 50, .dur_ns = 20, .parent = 0},
                   {.name = "all", .start_ns = 60, .dur_ns = 5, .domain = "NCCL", .parent = 0},
                   {.name = "mark", .start_ns = 70, .dur_ns = 0, .kind = runfile::NvtxKind::kMark},
                   {.name = "open", .start_ns = 80, .dur_ns = -1}});
  const Table table = answer(kNvtx, run);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(text_at(table, 0, "range"), "step");
  EXPECT_EQ(whole_at(table, 0, "self_ns"), 35);
  EXPECT_EQ(whole_at(table, 0, "gpu_total_ns"), 250);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "children"), 3);
  EXPECT_EQ(text_at(table, 1, "range"), "mlp");
  EXPECT_EQ(whole_at(table, 1, "count"), 2);
  EXPECT_EQ(whole_at(table, 1, "total_ns"), 60);
  EXPECT_EQ(whole_at(table, 1, "gpu_count"), 1);
  EXPECT_EQ(whole_at(table, 1, "gpu_ops"), 3);
  EXPECT_DOUBLE_EQ(real_at(table, 1, "depth"), 1);
  EXPECT_EQ(text_at(table, 2, "range"), "NCCL:all");
  EXPECT_TRUE(is_missing_at(table, 2, "gpu_total_ns"));
  EXPECT_THAT(table.notes, Contains("left out: 1 ranges that never ended"));
}

TEST(Nvtx, FindsARangeThatBeginsWithItsChildAndComesAfterIt) {
  auto run = run_of_work({}, {});
  set_ranges(run, {{.name = "child", .start_ns = 10, .dur_ns = 4, .parent = 1},
                   {.name = "outer", .start_ns = 10, .dur_ns = 9}});
  const Table table = answer(kNvtx, run);
  EXPECT_EQ(text_at(table, 0, "range"), "outer");
  EXPECT_EQ(whole_at(table, 0, "self_ns"), 5);
}

TEST(Nvtx, IsGroupedByRankWithRanksOfOneNameTogether) {
  auto run = run_of_work({.processes = 2}, {});
  set_ranges(run, {{.name = "a", .start_ns = 0, .dur_ns = 1},
                   {.name = "b", .start_ns = 1, .dur_ns = 9},
                   {.process = 1, .name = "a", .start_ns = 0, .dur_ns = 3},
                   {.process = 1, .name = "b", .start_ns = 3, .dur_ns = 8}});
  const Table table = answer(kNvtx, run, by(By::kRank));
  ASSERT_EQ(table.rows.size(), 4U);
  EXPECT_EQ(text_at(table, 1, "range"), "b");
  EXPECT_EQ(whole_at(table, 1, "rank"), 1);
  EXPECT_THAT(table.verdict, HasSubstr("4 ranges of 2 names; longest: b, 17 ns in all"));
}

TEST(Nvtx, SaysWhyThereAreNone) {
  auto run = run_of_work({}, {});
  EXPECT_THAT(answer(kNvtx, run).empty_reason, HasSubstr("pushed none while events were recorded"));
  run.attributes.trace = "cuda";
  EXPECT_THAT(answer(kNvtx, run).empty_reason, HasSubstr("-t cuda did not ask for them"));
}

}  // namespace
}  // namespace jaxprof::study
