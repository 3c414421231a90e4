// What is written is what is read, for every table, several chunks, nothing at all and missing values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "merge/runfile/column_chunks.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/run_file_writer.h"
#include "merge/runfile/table_rows.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

// NaN equals NaN: it is the missing value.
template <typename T>
bool is_same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return a == b || (std::isnan(a) && std::isnan(b));
  } else {
    return a == b;
  }
}

void compare_counters(const RunTables& a, const RunTables& b, std::vector<std::string>* found) {
  if (a.counters.size() != b.counters.size()) return found->push_back("/counters");
  for (std::size_t i = 0; i < a.counters.size(); ++i) {
    const CounterTable& left = a.counters[i];
    const CounterTable& right = b.counters[i];
    const std::string path = path_of(left);
    if (path != path_of(right)) found->push_back(path);
    if (left.time_ns != right.time_ns || left.read_ns != right.read_ns || left.flags != right.flags ||
        left.offset != right.offset || left.columns.size() != right.columns.size()) {
      found->push_back(path);
      continue;
    }
    for (std::size_t column = 0; column < left.columns.size(); ++column) {
      const CounterColumn& one = left.columns[column];
      const CounterColumn& other = right.columns[column];
      if (one.name != other.name || !one.is_same_quantity(other) || one.is_error != other.is_error ||
          one.values != other.values) {
        found->push_back(path + "/" + one.name);
      }
    }
  }
}

// Every column of every table as text lines "PATH/COLUMN[row]", only where `a` and `b` differ.
std::vector<std::string> differences(RunTables& a, RunTables& b) {
  std::vector<std::string> found;
  const auto compare = [&found]<typename Table>(const Table& left, const Table& right) {
    std::vector<const void*> columns;
    for_each_column(right, [&](const auto&, const auto& column) { columns.push_back(&column); });
    std::size_t next = 0;
    for_each_column(left, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>& values) {
      const auto& others = *static_cast<const std::vector<T>*>(columns[next++]);
      const std::string where = std::string(spec_of(left).path) + "/" + spec.name;
      if (values.size() != others.size()) found.push_back(where + " length");
      for (std::size_t i = 0; i < std::min(values.size(), others.size()); ++i) {
        if (!is_same(values[i], others[i])) found.push_back(where + "[" + std::to_string(i) + "]");
      }
    });
  };
  std::vector<std::vector<std::uint64_t>> offsets;
  for_each_offset(a,
                  [&](const OffsetSpec&, const auto& offset, std::size_t, std::size_t) { offsets.push_back(offset); });
  std::size_t next = 0;
  for_each_offset(b, [&](const OffsetSpec& spec, const auto& offset, std::size_t, std::size_t) {
    if (offset != offsets[next++]) found.push_back(spec.path);
  });
  compare(a.tasks, b.tasks);
  compare(a.processes, b.processes);
  compare(a.devices, b.devices);
  compare(a.nodes, b.nodes);
  compare(a.nics, b.nics);
  compare(a.observers, b.observers);
  compare(a.comms, b.comms);
  compare(a.comm_members, b.comm_members);
  compare(a.nvtx, b.nvtx);
  compare(a.nccl, b.nccl);
  compare(a.kernels, b.kernels);
  compare(a.memops, b.memops);
  compare(a.api, b.api);
  compare(a.overhead, b.overhead);
  compare(a.graphs, b.graphs);
  compare(a.syncs, b.syncs);
  compare(a.cuda_events, b.cuda_events);
  compare(a.launch_configs, b.launch_configs);
  compare(a.nccl_work, b.nccl_work);
  compare(a.segments, b.segments);
  compare(a.steps, b.steps);
  compare(a.collectives, b.collectives);
  compare(a.collective_members, b.collective_members);
  compare(a.transfers, b.transfers);
  compare(a.diagnostics, b.diagnostics);
  compare_counters(a, b, &found);
  return found;
}

// The run after a journey through a file; empty, and the test failed, if that went wrong.
RunTables written_and_read(const RunTables& run, const std::string& path, unsigned n_threads = 2) {
  auto read = write_run_file(run, path, {.n_threads = n_threads})
                  .and_then([&path](WrittenFile) { return RunFileReader::open(path); })
                  .and_then([](const RunFileReader& reader) { return reader.read_all(); });
  if (read) return std::move(*read);
  ADD_FAILURE() << read.error().message;
  return {};
}

TEST(RunFile, GivesBackEveryColumnOfEveryTable) {
  const test::TempFolder folder;
  RunTables run = test::sample_run();
  RunTables read = written_and_read(run, folder.file("run.h5"));
  EXPECT_THAT(differences(run, read), testing::IsEmpty());
  ASSERT_EQ(read.strings.size(), run.strings.size());
  for (std::uint32_t id = 0; id < run.strings.size(); ++id) {
    EXPECT_EQ(read.strings.text(StringId{id}), run.strings.text(StringId{id}));
  }
}

// Foreign names, which may be anything, and one that another dataset of the group has.
TEST(RunFile, KeepsCountersWhoseNamesAreNoDatasets) {
  const test::TempFolder folder;
  RunTables run = test::sample_run();
  CounterTable& table = run.counters.at(0);
  const std::size_t rows = table.time_ns.size();
  table.columns.clear();
  for (const char* name : {"", "SwLinkUp,32", "a/b", "flags", "flags~", "h\xC3\xB6"}) {
    table.columns.emplace_back();
    table.columns.back().name = name;
    table.columns.back().values.assign(rows, table.columns.size());
  }
  RunTables read = written_and_read(run, folder.file("run.h5"));
  EXPECT_THAT(differences(run, read), testing::IsEmpty());
}

TEST(RunFile, ReadsOnlyTheCountersThatAreAskedFor) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_run_file(test::sample_run(), folder.file("run.h5")));
  const auto reader = RunFileReader::open(folder.file("run.h5"));
  ASSERT_TRUE(reader);
  const auto read = reader->read([](std::string_view path) {
    return path == "/counters/nic/efa/tx_bytes" || path == "/counters/nic/efa/nic_offset" || path == "/job/nics";
  });
  ASSERT_TRUE(read) << read.error().message;
  ASSERT_EQ(read->counters.size(), 1U);
  EXPECT_TRUE(read->counters[0].time_ns.empty());
  ASSERT_EQ(read->counters[0].columns.size(), 1U);
  EXPECT_EQ(read->counters[0].columns[0].values, (std::vector<std::uint64_t>{1000, 2000, 5000}));
  EXPECT_TRUE(reader->read([](std::string_view) { return false; })->counters.empty());
}

TEST(RunFile, GivesBackTheAttributes) {
  const test::TempFolder folder;
  const RunTables run = test::sample_run();
  const RunTables read = written_and_read(run, folder.file("run.h5"));
  EXPECT_EQ(read.attributes.epoch_unix_ns, run.attributes.epoch_unix_ns);
  EXPECT_EQ(read.attributes.run_id, "81723.0.0");
  EXPECT_EQ(read.attributes.cmdline, "python train.py --name \"ä\"");
  EXPECT_EQ(read.attributes.world_size, 4U);
  EXPECT_EQ(read.attributes.n_dropped, 12U);
  EXPECT_EQ(read.attributes.step_marker, "step@puppet");
  EXPECT_EQ(read.attributes.clock_method, "wall_clock");
  EXPECT_TRUE(std::isnan(read.attributes.clock_bound_ns));
}

TEST(RunFile, TakesARunWithoutAnyRow) {
  const test::TempFolder folder;
  RunTables run;
  RunTables read = written_and_read(run, folder.file("run.h5"));
  EXPECT_THAT(differences(run, read), testing::IsEmpty());
  EXPECT_EQ(read.strings.size(), 1U);
}

class RunFileOfLength : public testing::TestWithParam<std::size_t> {};

TEST_P(RunFileOfLength, IsTheSameOverChunkBorders) {
  const test::TempFolder folder;
  RunTables run = test::long_run(GetParam());
  RunTables read = written_and_read(run, folder.file("run.h5"), 3);
  EXPECT_THAT(differences(run, read), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Rows, RunFileOfLength,
                         testing::Values(1, kChunkRows - 1, kChunkRows, kChunkRows + 1, 3 * kChunkRows + 17));

TEST(RunFile, ReadsASliceThatSpansAChunkBorder) {
  const test::TempFolder folder;
  const RunTables run = test::long_run(2 * kChunkRows);
  ASSERT_TRUE(write_run_file(run, folder.file("run.h5")));
  const auto reader = RunFileReader::open(folder.file("run.h5"));
  ASSERT_TRUE(reader);
  NvtxTable slice;
  const auto only_start = [](std::string_view path) { return path == "/events/nvtx/start_ns"; };
  ASSERT_TRUE(reader->read_rows(slice, kChunkRows - 2, 4, only_start));
  EXPECT_TRUE(slice.dur_ns.empty());
  EXPECT_THAT(slice.start_ns, testing::ElementsAreArray(run.nvtx.start_ns.data() + kChunkRows - 2, 4));
}

TEST(RunFile, GivesATableInStretches) {
  const test::TempFolder folder;
  const RunTables run = test::long_run(kChunkRows + 4'321);
  ASSERT_TRUE(write_run_file(run, folder.file("run.h5")));
  const auto reader = RunFileReader::open(folder.file("run.h5"));
  ASSERT_TRUE(reader);
  const auto rows = reader->count_rows<NvtxTable>();
  ASSERT_TRUE(rows);
  EXPECT_EQ(*rows, run.nvtx.start_ns.size());
  NvtxTable all;
  for (std::uint64_t first = 0; first < *rows; first += 50'000) {
    NvtxTable stretch;
    const auto read = reader->read_rows(stretch, first, std::min<std::uint64_t>(50'000, *rows - first),
                                        [](std::string_view) { return true; });
    ASSERT_TRUE(read) << read.error().message;
    append_rows(all, stretch);
  }
  EXPECT_EQ(all.start_ns, run.nvtx.start_ns);
  EXPECT_EQ(all.name, run.nvtx.name);
  EXPECT_EQ(all.payload, run.nvtx.payload);
}

TEST(RunFile, RefusesASliceBeyondTheEnd) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_run_file(test::sample_run(), folder.file("run.h5")));
  const auto reader = RunFileReader::open(folder.file("run.h5"));
  ASSERT_TRUE(reader);
  NvtxTable slice;
  const auto status = reader->read_rows(slice, 1, 2, [](std::string_view) { return true; });
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kInputUnreadable);
}

TEST(RunFile, LeavesColumnsEmptyThatWereNotAskedFor) {
  const test::TempFolder folder;
  ASSERT_TRUE(write_run_file(test::sample_run(), folder.file("run.h5")));
  const auto reader = RunFileReader::open(folder.file("run.h5"));
  ASSERT_TRUE(reader);
  const auto read = reader->read([](std::string_view path) {
    return path.starts_with("/job") || path == "/events/nccl/coll" || path == "/events/nccl/process_offset" ||
           path == "/events/nvtx/process_offset" || path == "/events/nccl/instance";
  });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->nccl.coll.size(), 5U);
  EXPECT_TRUE(read->nccl.start_ns.empty());
  EXPECT_TRUE(read->nvtx.start_ns.empty());
  EXPECT_EQ(read->nvtx_process_offset.back(), 2U);
}

TEST(RunFile, ClosesEverything) {
  const test::TempFolder folder;
  const hid_t all_files = H5F_OBJ_ALL;
  // Ours are the first HDF5 calls of a process: they keep its exit handler away, which crashes after a full disk. And
  // HDF5 itself keeps a file that it could not finish there; a test of that may have run before.
  written_and_read(test::sample_run(), folder.file("first.h5"));
  const ssize_t before = H5Fget_obj_count(all_files, H5F_OBJ_ALL);
  written_and_read(test::sample_run(), folder.file("run.h5"));
  EXPECT_EQ(H5Fget_obj_count(all_files, H5F_OBJ_ALL), before);
}

TEST(RunFile, MakesNamesThatAreNotUtf8Readable) {
  const test::TempFolder folder;
  RunTables run;
  run.strings.intern(
      "a\xFF"
      "b");
  const RunTables read = written_and_read(run, folder.file("run.h5"));
  EXPECT_EQ(read.strings.text(StringId{1}),
            "a\xEF\xBF\xBD"
            "b");
}

TEST(CheckOutput, FailsBeforeTheWorkIsDone) {
  const test::TempFolder folder;
  const std::string path = folder.file("run.h5");
  EXPECT_TRUE(check_output(path, false));
  EXPECT_FALSE(std::filesystem::exists(path + ".part"));
  std::ofstream(path) << "x";
  EXPECT_EQ(check_output(path, false).error().code, ErrorCode::kOutputFailed);
  EXPECT_TRUE(check_output(path, true));
  EXPECT_EQ(check_output(folder.file("absent/run.h5"), true).error().code, ErrorCode::kOutputFailed);
}

}  // namespace
}  // namespace jaxprof::runfile
