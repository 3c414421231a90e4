// Counting in a file, stretch by stretch on several threads, is counting in memory.
#include "merge/study/event_counts.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"
#include "merge/study/render.h"
#include "merge/study/summary.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/study/calls.h"

namespace jaxprof::study {
namespace {

using runfile::kNoRow;

// Three processes whose calls lie over several chunks of the file, grouped, unmatched and replayed at random.
runfile::RunTables long_run() {
  std::mt19937_64 random(20261130);
  const auto one_in = [&random](std::uint64_t n) { return random() % n == 0; };
  runfile::RunTables run = test::run_of(std::vector(3, std::vector<test::Call>(70'000)));
  runfile::NcclTable& t = run.nccl;
  for (std::size_t row = 0; row < t.coll.size(); ++row) {
    t.coll[row] = static_cast<runfile::Coll>(random() % 12);
    t.group[row] = one_in(3) ? kNoRow : random() % 100'000;
    t.path[row] = one_in(2) ? runfile::JoinPath::kMissing : static_cast<runfile::JoinPath>(random() % 4);
    t.gpu_dur_ns[row] = one_in(4) ? -1 : 5;
    t.graph[row] = one_in(5) ? 1 : 0;
    if (one_in(9)) t.replay[row] = random() % 7;
    if (one_in(50)) t.parent[row] = 0;
    if (one_in(20)) t.instance[row] = kNoRow;
    if (one_in(100)) t.comm[row] = runfile::kNoIndex;
    if (one_in(100)) t.seq[row] = kNoRow;
  }
  runfile::resize_rows(run.nvtx, 200'000);
  for (runfile::NvtxKind& kind : run.nvtx.kind) kind = static_cast<runfile::NvtxKind>(random() % 3);
  run.nvtx_process_offset = {0, 50'000, 50'000, 200'000};
  runfile::resize_rows(run.kernels, 300'000);
  for (std::size_t row = 0; row < run.kernels.flags.size(); ++row) {
    run.kernels.flags[row] = one_in(1000) ? static_cast<std::uint16_t>(random() % 64) : 0;
    if (row > 150'000) run.kernels.graph_node[row] = one_in(2) ? kNoRow : row;
  }
  run.kernel_process_offset = {0, 300'000, 300'000, 300'000};
  return run;
}

class EventCountsOfAFile : public testing::Test {
 protected:
  Table of_file(const runfile::RunTables& run, runfile::Compression compression = runfile::Compression::kGzip) const {
    runfile::WriteOptions options;
    options.compression = compression;
    options.may_replace = true;
    const std::string path = folder_.file("run.h5");
    const auto written = runfile::write_run_file(run, path, options);
    EXPECT_TRUE(written) << written.error().message;
    const auto reader = runfile::RunFileReader::open(path);
    const auto tables = reader->read(summary_wants);
    EXPECT_TRUE(tables) << tables.error().message;
    auto table = summary_of_file({*tables, *reader}, {});
    EXPECT_TRUE(table) << table.error().message;
    return *table;
  }

  jaxprof::test::TempFolder folder_;
};

TEST_F(EventCountsOfAFile, AreThoseOfTheRun) {
  RenderOptions json;
  json.format = Format::kJson;
  for (const runfile::RunTables& run : {runfile::test::sample_run(), long_run()}) {
    EXPECT_EQ(render(of_file(run), json), render(summary(run), json));
  }
}

TEST_F(EventCountsOfAFile, DoNotDependOnItsCompression) {
  RenderOptions json;
  json.format = Format::kJson;
  const runfile::RunTables run = long_run();
  EXPECT_EQ(render(of_file(run, runfile::Compression::kNone), json), render(of_file(run), json));
}

TEST(EventCounts, CountsCallsInCompanyByProcess) {
  const runfile::RunTables run = long_run();
  std::map<std::pair<std::size_t, std::uint64_t>, std::int64_t> calls;
  for (std::size_t row = 0; row < run.nccl.group.size(); ++row) {
    if (run.nccl.group[row] != kNoRow && run.nccl.parent[row] == kNoRow) ++calls[{row / 70'000, run.nccl.group[row]}];
  }
  std::int64_t expected = 0;
  for (const auto& [group, n] : calls) expected += n > 1 ? n : 0;
  EXPECT_EQ(count_events(run).calls.n_grouped, expected);
}

TEST(EventCounts, CountsBitsAndRows) {
  const EventCounts counts = count_events(long_run());
  std::int64_t n_without_time = 0;
  std::int64_t n_in_graphs = 0;
  const runfile::RunTables run = long_run();
  for (const std::uint16_t flags : run.kernels.flags) n_without_time += flags & runfile::kWorkNoTime;
  for (const std::uint64_t node : run.kernels.graph_node) n_in_graphs += node != kNoRow ? 1 : 0;
  EXPECT_GT(n_without_time, 0);
  EXPECT_EQ(counts.n_with_flaw(runfile::kWorkNoTime), n_without_time);
  EXPECT_EQ(counts.n_kernels, 300'000);
  EXPECT_EQ(counts.n_kernels_in_graphs, n_in_graphs);
  EXPECT_EQ(counts.nvtx_by_kind[0] + counts.nvtx_by_kind[1] + counts.nvtx_by_kind[2], 200'000);
}

}  // namespace
}  // namespace jaxprof::study
