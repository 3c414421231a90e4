// Rows of a file of several chunks.
#include "merge/export/row_runs.h"

#include <gtest/gtest.h>

#include "merge/runfile/run_file_writer.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/runfile/sample_run.h"

namespace jaxprof::exporting {
namespace {

constexpr std::size_t kRows = 3 * runfile::kChunkRows + 17;

class RowRunsTest : public testing::Test {
 protected:
  void SetUp() override {
    run_ = runfile::test::long_run(kRows);
    ASSERT_TRUE(runfile::write_run_file(run_, folder_.file("run.h5")));
    auto reader = runfile::RunFileReader::open(folder_.file("run.h5"));
    ASSERT_TRUE(reader) << reader.error().message;
    reader_.emplace(std::move(*reader));
  }

  jaxprof::test::TempFolder folder_;
  runfile::RunTables run_;
  std::optional<runfile::RunFileReader> reader_;
};

TEST_F(RowRunsTest, AreTheRowsThatStartInTheSpans) {
  const auto& starts_ns = run_.nvtx.start_ns;
  const study::TimeSpan early{starts_ns[1000], starts_ns[2000]};
  const study::TimeSpan late{starts_ns[runfile::kChunkRows + 5], starts_ns[2 * runfile::kChunkRows + 9] + 1};
  const std::vector<study::TimeSpan> spans{early, late, {starts_ns.back() + 1, starts_ns.back() + 9}};
  const auto runs = rows_in<runfile::NvtxTable>(*reader_, {0, kRows}, spans);
  ASSERT_TRUE(runs) << runs.error().message;
  RowRuns expected;
  for (const auto& span : {early, late}) {
    const auto row_of = [&](std::int64_t t_ns) {
      return static_cast<std::uint64_t>(std::lower_bound(starts_ns.begin(), starts_ns.end(), t_ns) - starts_ns.begin());
    };
    expected.push_back({row_of(span.begin_ns), row_of(span.end_ns)});
  }
  EXPECT_EQ(*runs, expected);
}

TEST_F(RowRunsTest, AWalkGivesEachRowOnce) {
  const RowRuns runs{{3, 5}, {runfile::kChunkRows - 2, runfile::kChunkRows + 2}, {kRows - 1, kRows}};
  RowWalk<runfile::NvtxTable> walk(*reader_, runs, is_start_column);
  std::vector<std::uint64_t> rows;
  for (;;) {
    const auto has_row = walk.next();
    ASSERT_TRUE(has_row) << has_row.error().message;
    if (!*has_row) break;
    rows.push_back(walk.row());
    EXPECT_EQ(walk.table().start_ns[walk.at()], run_.nvtx.start_ns[walk.row()]);
  }
  const auto k = static_cast<std::uint64_t>(runfile::kChunkRows);
  EXPECT_EQ(rows, (std::vector<std::uint64_t>{3, 4, k - 2, k - 1, k, k + 1, kRows - 1}));
}

}  // namespace
}  // namespace jaxprof::exporting
