// Rows that several threads decode past HDF5, in stretches or as whole columns, are those that HDF5 reads, also where
// the file is not what it should be.
#include "merge/runfile/table_scan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <fstream>
#include <map>
#include <mutex>

#include "merge/runfile/attributes.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kRows = 3 * kChunkRows + 17;

bool is_any(std::string_view) {
  return true;
}

class TableScanTest : public testing::Test {
 protected:
  TableScanTest() { prepare_hdf5(); }
  std::string path() const { return folder_.file("run.h5"); }
  void write(const RunTables& run, Compression compression = Compression::kGzip) const {
    WriteOptions options;
    options.compression = compression;
    ASSERT_TRUE(write_run_file(run, path(), options));
  }
  Handle opened() const { return {H5Fopen(path().c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose}; }

  // All rows, put in order.
  Result<NvtxTable> scanned(unsigned n_threads, const IsWanted& is_wanted = is_any) const {
    std::mutex mutex;
    std::map<std::uint64_t, NvtxTable> stretches;
    const auto reader = RunFileReader::open(path());
    if (!reader) return tl::unexpected(reader.error());
    const auto status = reader->scan_rows<NvtxTable>(is_wanted, n_threads, [&](const NvtxTable& rows, auto first) {
      const std::lock_guard lock(mutex);
      EXPECT_TRUE(stretches.emplace(first, rows).second) << "twice: " << first;
    });
    if (!status) return tl::unexpected(status.error());
    NvtxTable all;
    for (const auto& [first, rows] : stretches) {
      EXPECT_EQ(first, longest_column(all));
      append_rows(all, rows);
    }
    return all;
  }
  std::string refusal() const {
    const auto rows = scanned(3);
    if (rows) return "no error";
    EXPECT_EQ(rows.error().code, ErrorCode::kInputUnreadable);
    EXPECT_THAT(rows.error().message, testing::StartsWith(path() + ": "));
    return rows.error().message;
  }
  // The same rows as whole columns, which as many threads read as there are processors.
  Result<NvtxTable> read() const {
    const auto reader = RunFileReader::open(path());
    if (!reader) return tl::unexpected(reader.error());
    return reader->read_all().map([](RunTables&& run) { return std::move(run.nvtx); });
  }
  std::string refusal_of_columns() const {
    const auto rows = read();
    return rows ? "no error" : rows.error().message;
  }
  static void expect_same(const NvtxTable& rows, const NvtxTable& wanted) {
    EXPECT_TRUE(rows.start_ns == wanted.start_ns);
    EXPECT_TRUE(rows.depth == wanted.depth);
    EXPECT_TRUE(rows.name == wanted.name);
    EXPECT_TRUE(rows.kind == wanted.kind);
    EXPECT_TRUE(rows.payload == wanted.payload);
    EXPECT_TRUE(rows.parent == wanted.parent);
  }
  void expect_rows(const RunTables& run, unsigned n_threads) const {
    const auto rows = scanned(n_threads);
    ASSERT_TRUE(rows) << rows.error().message;
    expect_same(*rows, run.nvtx);
    const auto columns = read();
    ASSERT_TRUE(columns) << columns.error().message;
    expect_same(*columns, run.nvtx);
  }
  // Puts the column of starts back as `creation` says.
  void rewrite_starts(const RunTables& run, hid_t creation) const {
    const Handle file = opened();
    const hsize_t n = run.nvtx.start_ns.size();
    const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
    ASSERT_GE(H5Ldelete(file.get(), "/events/nvtx/start_ns", H5P_DEFAULT), 0);
    const Handle dataset{
        H5Dcreate2(file.get(), "/events/nvtx/start_ns", H5T_STD_I64LE, space.get(), H5P_DEFAULT, creation, H5P_DEFAULT),
        H5Dclose};
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, run.nvtx.start_ns.data()), 0);
  }

  test::TempFolder folder_;
};

TEST_F(TableScanTest, GivesEveryRowOnceWithAnyNumberOfThreads) {
  for (const std::uint64_t n_rows : {std::uint64_t{1}, std::uint64_t{kChunkRows}, kRows}) {
    const RunTables run = test::long_run(n_rows);
    std::remove(path().c_str());
    write(run);
    for (const unsigned n_threads : {1U, 3U}) expect_rows(run, n_threads);
  }
}

TEST_F(TableScanTest, TakesAFileWithoutCompression) {
  const RunTables run = test::long_run(kRows);
  write(run, Compression::kNone);
  expect_rows(run, 3);
}

TEST_F(TableScanTest, LeavesOutWhatIsNotWanted) {
  write(test::long_run(kRows));
  const auto rows = scanned(2, [](std::string_view name) { return name == "/events/nvtx/kind"; });
  ASSERT_TRUE(rows);
  EXPECT_EQ(rows->kind.size(), kRows);
  EXPECT_TRUE(rows->start_ns.empty());
}

TEST_F(TableScanTest, TakesChunksOfAnotherLength) {
  const RunTables run = test::long_run(kRows);
  write(run);
  const Handle creation{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  const hsize_t chunk = 1'000;
  H5Pset_chunk(creation.get(), 1, &chunk);
  H5Pset_shuffle(creation.get());
  H5Pset_deflate(creation.get(), 6);
  rewrite_starts(run, creation.get());
  expect_rows(run, 3);
}

TEST_F(TableScanTest, LeavesOtherLayoutsAndFiltersToHdf5) {
  const RunTables run = test::long_run(kRows);
  write(run);
  rewrite_starts(run, H5P_DEFAULT);  // contiguous
  expect_rows(run, 3);
  const Handle creation{H5Pcreate(H5P_DATASET_CREATE), H5Pclose};
  const hsize_t chunk = 10'000;
  H5Pset_chunk(creation.get(), 1, &chunk);
  H5Pset_fletcher32(creation.get());
  rewrite_starts(run, creation.get());
  expect_rows(run, 3);
}

TEST_F(TableScanTest, NamesTheChunkThatIsDamaged) {
  write(test::long_run(kRows));
  {
    const Handle file = opened();
    const Handle dataset{H5Dopen2(file.get(), "/events/nvtx/start_ns", H5P_DEFAULT), H5Dclose};
    const hsize_t row = kChunkRows;
    ASSERT_GE(H5Dwrite_chunk(dataset.get(), H5P_DEFAULT, 0, &row, 5, "nope"), 0);
  }
  const auto damage = HasSubstr("/events/nvtx/start_ns: the chunk of row 131072: is not a whole zlib stream");
  EXPECT_THAT(refusal(), damage);
  EXPECT_THAT(refusal_of_columns(), testing::AllOf(testing::StartsWith(path() + ": "), damage));
}

TEST_F(TableScanTest, NamesTheRowThatPointsNowhere) {
  RunTables run = test::long_run(kRows);
  write(run);
  {
    const Handle file = opened();
    const Handle dataset{H5Dopen2(file.get(), "/events/nvtx/name", H5P_DEFAULT), H5Dclose};
    run.nvtx.name[kChunkRows + 5] = StringId{4000};
    ASSERT_GE(H5Dwrite(dataset.get(), H5T_NATIVE_UINT32, H5S_ALL, H5S_ALL, H5P_DEFAULT, run.nvtx.name.data()), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nvtx/name: row 131077 points to index of /strings/value 4000 of"));
}

TEST_F(TableScanTest, RefusesColumnsOfDifferentLengths) {
  write(test::long_run(kRows));
  {
    const Handle file = opened();
    const Handle dataset{H5Dopen2(file.get(), "/events/nvtx/kind", H5P_DEFAULT), H5Dclose};
    const hsize_t n = 4;
    ASSERT_GE(H5Dset_extent(dataset.get(), &n), 0);
  }
  EXPECT_THAT(refusal(), HasSubstr("/events/nvtx/kind: 4 rows where its table has 393233"));
}

// As before there were operations that GPUs did for a range.
TEST_F(TableScanTest, FillsColumnsThatAnOlderFileLacks) {
  write(test::long_run(kRows));
  {
    const Handle file = opened();
    ASSERT_GE(H5Adelete(file.get(), "schema_version"), 0);
    ASSERT_TRUE(write_text_attribute(file.get(), "schema_version", "1.3.0"));
    ASSERT_GE(H5Ldelete(file.get(), "/events/nvtx/gpu_ops", H5P_DEFAULT), 0);
  }
  const auto rows = scanned(2);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_TRUE(rows->gpu_ops == std::vector<std::uint32_t>(kRows, kNoIndex));
}

// A reader that believes what it reads would crash here sooner or later.
TEST_F(TableScanTest, IsRefusedOrReadWhateverByteIsWrong) {
  write(test::long_run(300));
  std::ifstream in(path(), std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(in)), {});
  for (std::size_t at = 0; at < whole.size(); at += whole.size() / 500) {
    std::string bad = whole;
    bad[at] = static_cast<char>(~bad[at]);
    std::ofstream(path(), std::ios::binary) << bad;
    (void)scanned(2);
  }
}

}  // namespace
}  // namespace jaxprof::runfile
