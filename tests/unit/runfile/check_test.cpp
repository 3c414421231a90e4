// A run that contradicts itself is not written.
#include "merge/runfile/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/runfile/sample_run.h"

namespace jaxprof::runfile {
namespace {

using testing::HasSubstr;

std::string fault(const RunTables& run) {
  const auto checked = check_run(run, Extent::kWhole, table_rows(run));
  return checked ? "" : checked.error().message;
}

TEST(CheckRun, PassesAConsistentRun) {
  EXPECT_EQ(fault(test::sample_run()), "");
}

TEST(CheckRun, FindsAColumnThatIsTooShort) {
  RunTables run = test::sample_run();
  run.nccl.seq.pop_back();
  EXPECT_EQ(fault(run), "/events/nccl/seq: 4 rows where its table has 5");
}

TEST(CheckRun, FindsAColumnThatWasForgotten) {
  RunTables run = test::sample_run();
  run.nccl.seq.clear();
  EXPECT_EQ(fault(run), "/events/nccl/seq: 0 rows where its table has 5");
}

TEST(CheckRun, FindsOffsetsThatEndTooEarly) {
  RunTables run = test::sample_run();
  run.nccl_process_offset.back() = 4;
  EXPECT_THAT(fault(run), HasSubstr("/events/nccl/process_offset: ends at 4 of 5 rows"));
}

TEST(CheckRun, FindsOffsetsWithoutEveryProcess) {
  RunTables run = test::sample_run();
  run.nvtx_process_offset = {0};
  EXPECT_EQ(fault(run), "/events/nvtx/process_offset: 1 values for 3 parts");
}

TEST(CheckRun, FindsANodeThatDoesNotExist) {
  RunTables run = test::sample_run();
  run.processes.node[2] = 2;
  EXPECT_EQ(fault(run), "/job/processes/node: row 2 points to index of /job/nodes 2 of 2");
}

TEST(CheckRun, FindsANegativeDevice) {
  RunTables run = test::sample_run();
  run.nccl.device[1] = -7;
  EXPECT_THAT(fault(run), HasSubstr("/events/nccl/device: row 1 points to"));
}

TEST(CheckRun, TakesMissingReferences) {
  RunTables run = test::sample_run();
  run.nccl.comm[0] = kNoIndex;
  run.nccl.instance[0] = kNoRow;
  run.processes.node[0] = kNoIndex;
  EXPECT_EQ(fault(run), "");
}

}  // namespace
}  // namespace jaxprof::runfile
