#include "merge/study/nccl.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/calls.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using runfile::Coll;
using testing::HasSubstr;
using namespace test;

runfile::RunTables spanning(runfile::RunTables run) {
  for (std::size_t i = 0; i < run.processes.process.size(); ++i) {
    run.processes.start_ns[i] = 0;
    run.processes.end_ns[i] = 1'000'000'000;
  }
  return run;
}

TEST(NcclStudy, HasOneRowAnOperationTypeAndSize) {
  const auto run = spanning(
      run_of({{{.gpu_ns = 10, .gpu_start_ns = 1}, {.coll = Coll::kAllGather, .gpu_ns = 5, .gpu_start_ns = 1}},
              {{.gpu_ns = 20, .gpu_start_ns = 1}, {.coll = Coll::kAllGather, .gpu_ns = 5, .gpu_start_ns = 1}}}));
  const Table table = answer(kNccl, run);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(text_at(table, 0, "op"), "AllReduce");
  EXPECT_EQ(text_at(table, 0, "time"), "gpu");
  EXPECT_EQ(whole_at(table, 0, "count"), 2);
  EXPECT_EQ(whole_at(table, 0, "total_ns"), 30);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "time_share"), 0.75);
  EXPECT_EQ(whole_at(table, 0, "all_bytes"), 2048);
  const Table by_comm = answer(kNccl, run, by(By::kComm));
  EXPECT_EQ(whole_at(by_comm, 0, "comm"), 0);
  EXPECT_EQ(whole_at(by_comm, 0, "comm_ranks"), 2);
  const Table by_rank = answer(kNccl, run, by(By::kRank));
  ASSERT_EQ(by_rank.rows.size(), 4U);
  EXPECT_EQ(whole_at(by_rank, 1, "rank"), 1);
}

TEST(NcclStudy, CountsACapturedCallOnlyWhereNoReplayWasSeen) {
  const Table replayed = answer(
      kNccl,
      spanning(run_of({{{.is_captured = true}, {.gpu_ns = 7, .gpu_start_ns = 1, .replay = 0, .is_captured = true}}})));
  EXPECT_EQ(whole_at(replayed, 0, "count"), 1);
  EXPECT_EQ(whole_at(replayed, 0, "total_ns"), 7);
  const Table captured = answer(kNccl, spanning(run_of({{{.host_ns = 4, .is_captured = true}}})));
  EXPECT_EQ(whole_at(captured, 0, "count"), 1);
  EXPECT_EQ(text_at(captured, 0, "time"), "host");
}

TEST(NcclStudy, SaysWhyThereAreNone) {
  EXPECT_THAT(answer(kNccl, spanning(run_of({{}}))).empty_reason, HasSubstr("neither NCCL's profiler plugin"));
  StudyOptions options;
  options.op = Coll::kBroadcast;
  EXPECT_THAT(answer(kNccl, spanning(run_of({{{}}})), options).empty_reason, HasSubstr("of --op Broadcast"));
}

}  // namespace
}  // namespace jaxprof::study
