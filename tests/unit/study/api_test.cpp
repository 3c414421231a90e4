#include "merge/study/api.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;
using namespace test;

runfile::RunTables run_of_calls() {
  auto run = run_of_work({.processes = 2}, {});
  const auto add = [&run](std::int64_t start_ns, std::int64_t dur_ns, const char* name, runfile::ApiLayer layer,
                          std::int32_t result) {
    const std::size_t row = add_row(run.api);
    run.api.start_ns[row] = start_ns;
    run.api.dur_ns[row] = dur_ns;
    run.api.name[row] = run.strings.intern(name);
    run.api.layer[row] = layer;
    run.api.result[row] = result;
  };
  add(10, 5, "cudaLaunchKernel", runfile::ApiLayer::kRuntime, 0);
  add(11, 3, "cuLaunchKernel", runfile::ApiLayer::kDriver, 0);
  add(30, 7, "cudaLaunchKernel", runfile::ApiLayer::kRuntime, 1);
  add(40, -1, "cudaLaunchKernel", runfile::ApiLayer::kRuntime, -1);
  add(10, 100, "cudaStreamSynchronize", runfile::ApiLayer::kRuntime, 0);
  run.api_process_offset = {0, 4, 5};
  return run;
}

TEST(Api, HasOneRowAFunctionAndLayer) {
  const Table table = answer(kApi, run_of_calls());
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(text_at(table, 0, "function"), "cudaStreamSynchronize");
  EXPECT_EQ(text_at(table, 1, "function"), "cudaLaunchKernel");
  EXPECT_EQ(text_at(table, 1, "layer"), "runtime");
  EXPECT_EQ(whole_at(table, 1, "count"), 2);
  EXPECT_EQ(whole_at(table, 1, "total_ns"), 12);
  EXPECT_EQ(whole_at(table, 1, "failed"), 1);
  EXPECT_DOUBLE_EQ(real_at(table, 0, "time_share"), 100.0 / 115);
  EXPECT_THAT(table.verdict, HasSubstr("4 calls of 3 functions"));
}

TEST(Api, IsGroupedByRankAndFiltered) {
  const Table by_rank = answer(kApi, run_of_calls(), by(By::kRank));
  ASSERT_EQ(by_rank.rows.size(), 3U);
  EXPECT_EQ(whole_at(by_rank, 0, "rank"), 1);
  StudyOptions options;
  options.ranks = "0";
  EXPECT_EQ(answer(kApi, run_of_calls(), options).rows.size(), 2U);
  EXPECT_THAT(answer(kApi, run_of_calls(), in_window(500, 600)).empty_reason,
              HasSubstr("none of the run file's CUDA API calls"));
}

}  // namespace
}  // namespace jaxprof::study
