// A run that comes in parts makes the same bytes as one that comes at once, wherever the parts were encoded; and a part
// that does not fit is refused as soon as that can be known.
#include "merge/runfile/run_file_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <thread>

#include "merge/runfile/column_chunks.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/table_rows.h"
#include "tests/unit/runfile/sample_run.h"
#include "tests/unit/runfile/temp_folder.h"

namespace jaxprof::runfile {
namespace {

using testing::HasSubstr;

// Rows of several tables over the borders of chunks, on top of the sample: of different lengths, so that their borders
// fall together nowhere.
RunTables big_run() {
  RunTables run = test::sample_run();
  std::mt19937_64 random{5};
  const auto grow = [](auto& table, std::size_t rows, std::vector<std::uint64_t>& offset) {
    resize_rows(table, rows);
    offset.back() = rows;
    return rows;
  };
  const std::size_t calls = grow(run.nccl, kChunkRows + 1'000, run.nccl_process_offset);
  for (std::size_t i = 5; i < calls; ++i) run.nccl.start_ns[i] = static_cast<std::int64_t>(1000 * i + random() % 1000);
  const std::size_t kernels = grow(run.kernels, 2 * kChunkRows + 17, run.kernel_process_offset);
  for (std::size_t i = 1; i < kernels; ++i) run.kernels.dur_ns[i] = static_cast<std::int64_t>(random() % 100'000);
  grow(run.api, kChunkRows, run.api_process_offset);
  return run;
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Rows [first, last) of every table, of which `cuts` has the borders: those of part i are [cuts[i], cuts[i + 1]).
EventTables part_of(const RunTables& run, std::span<const RowPositions> cuts, std::size_t part) {
  EventTables rows;
  std::vector<const void*> sources;
  const EventTables& events = run;
  for_each_event_table(events, [&](const auto& table) {
    for_each_column(table, [&](const auto&, const auto& column) { sources.push_back(&column); });
  });
  std::size_t next = 0;
  std::size_t next_table = 0;
  for_each_event_table(rows, [&](auto& table) {
    const std::uint64_t first = cuts[part].rows[next_table];
    const std::uint64_t last = cuts[part + 1].rows[next_table++];
    for_each_column(table, [&]<typename T>(const ColumnSpec<T>&, std::vector<T>& column) {
      const auto& all = *static_cast<const std::vector<T>*>(sources[next++]);
      column.assign(all.begin() + static_cast<std::ptrdiff_t>(first), all.begin() + static_cast<std::ptrdiff_t>(last));
    });
  });
  return rows;
}

// `n_parts` + 1 borders at random rows of each table.
std::vector<RowPositions> random_cuts(const RunTables& run, std::size_t n_parts, unsigned seed) {
  std::mt19937_64 random{seed};
  const RowPositions whole = RowPositions::of(run);
  std::vector<RowPositions> cuts(n_parts + 1, RowPositions::none());
  for (std::size_t table = 0; table < whole.rows.size(); ++table) {
    std::vector<std::uint64_t> borders = {0, whole.rows[table]};
    while (borders.size() < cuts.size()) borders.push_back(random() % (whole.rows[table] + 1));
    std::sort(borders.begin(), borders.end());
    for (std::size_t i = 0; i < cuts.size(); ++i) cuts[i].rows[table] = borders[i];
  }
  return cuts;
}

class InParts : public testing::Test {
 protected:
  InParts() : run_(big_run()) {
    // The parts are cut anywhere, so that nothing may point to rows of which some come later.
    EventTables& events = run_;
    for_each_event_table(events, [](auto& table) {
      for_each_column(table, [](const auto& spec, auto& column) {
        if (std::string_view{spec.unit}.starts_with("row of ")) std::fill(column.begin(), column.end(), spec.missing);
      });
    });
  }

  std::string at_once(const WriteOptions& options = {.may_replace = true, .n_threads = 1}) const {
    const auto written = write_run_file(run_, folder_.file("once.h5"), options);
    EXPECT_TRUE(written) << written.error().message;
    return bytes_of(folder_.file("once.h5"));
  }

  // Each part by `put`(stream, rows).
  std::string in_parts(std::size_t n_parts, unsigned seed, unsigned n_threads, auto&& put) const {
    const auto cuts = random_cuts(run_, n_parts, seed);
    auto stream = RunFileStream::create(folder_.file("parts.h5"), {.may_replace = true, .n_threads = n_threads});
    if (!stream) return stream.error().message;
    for (std::size_t part = 0; part < n_parts; ++part) {
      const Status appended = put(*stream, part_of(run_, cuts, part));
      if (!appended) return appended.error().message;
    }
    const auto ends = std::span(run_.collective_member_offset).subspan(1);
    for (const std::uint64_t& end : ends) EXPECT_TRUE(stream->append_member_ends({&end, 1}));
    const auto written = stream->finish(run_);
    if (!written) return written.error().message;
    return bytes_of(folder_.file("parts.h5"));
  }

  const test::TempFolder folder_;
  RunTables run_;
};

TEST_F(InParts, MakesTheSameBytesHoweverItIsDivided) {
  const std::string expected = at_once();
  std::this_thread::sleep_for(std::chrono::milliseconds(1100));  // HDF5 stamps with whole seconds
  EXPECT_TRUE(at_once({.may_replace = true, .n_threads = 4}) == expected) << "a second later, with other threads";
  EXPECT_TRUE(at_once({.may_replace = true, .n_threads = 2, .chunk_memory_bytes = 100'000}) == expected)
      << "from a scratch file";
  WriteOptions elsewhere{.may_replace = true, .n_threads = 2, .chunk_memory_bytes = 0};
  elsewhere.scratch_folder = "/nonexistent";
  const auto unwritten = write_run_file(run_, folder_.file("never.h5"), elsewhere);
  ASSERT_FALSE(unwritten);
  EXPECT_THAT(unwritten.error().message, testing::HasSubstr("scratch file in /nonexistent"));
  elsewhere.scratch_folder = "/tmp";
  EXPECT_TRUE(at_once(elsewhere) == expected) << "from one in another folder";
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1) << "which is gone";
  const auto append = [](RunFileStream& stream, const EventTables& rows) { return stream.append(rows); };
  unsigned n_threads = 1;
  for (const std::size_t n_parts : {1UL, 2UL, 7UL, 40UL}) {
    n_threads = n_threads == 1 ? 4 : 1;
    EXPECT_TRUE(in_parts(n_parts, 7 * n_threads, n_threads, append) == expected) << n_parts << " parts";
  }
}

TEST_F(InParts, MakesTheSameBytesWhereverPartsAreEncoded) {
  const std::string expected = at_once();
  const auto send = [](RunFileStream& stream, const EventTables& rows) {
    const EncodedPart part = encode_part(rows, stream.rows(), Compression::kGzip);
    return EncodedPart::unpacked(part.packed()).and_then([&](const EncodedPart& received) {
      EXPECT_EQ(received, part);
      return stream.append_encoded(received);
    });
  };
  for (const std::size_t n_parts : {1UL, 3UL, 20UL}) {
    EXPECT_TRUE(in_parts(n_parts, 3, 2, send) == expected) << n_parts << " parts";
  }
}

TEST_F(InParts, WritesColumnsThatComeLater) {
  const std::size_t n = run_.nccl.start_ns.size();
  for (std::size_t i = 0; i < n; ++i) run_.nccl.instance[i] = i % 3 == 0 ? i % 2 : kNoRow;
  const std::string expected = at_once();
  auto stream = RunFileStream::create(folder_.file("parts.h5"), {.n_threads = 2});
  ASSERT_TRUE(stream);
  EventTables rows = part_of(run_, std::vector{RowPositions::none(), RowPositions::of(run_)}, 0);
  rows.nccl.instance.clear();
  ASSERT_TRUE(stream->append(rows));
  ASSERT_TRUE(stream->append_member_ends(std::span(run_.collective_member_offset).subspan(1)));
  for (std::size_t first = 0; first < n; first += 10'000) {
    const auto some = std::span(run_.nccl.instance).subspan(first, std::min<std::size_t>(10'000, n - first));
    const auto appended = stream->append_instances(some);
    ASSERT_TRUE(appended) << appended.error().message;
  }
  const auto written = stream->finish(run_);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(bytes_of(folder_.file("parts.h5")) == expected);
}

class Refused : public testing::Test {
 protected:
  Refused() : stream_(std::move(*RunFileStream::create(folder_.file("run.h5"), {.n_threads = 1}))) {
    run_ = test::sample_run();
    resize_rows(events_.kernels, 1);
  }
  // The message of the failure that `status` is; the file is gone after it.
  std::string refusal(const Status& status) const {
    if (status) return "no failure";
    EXPECT_EQ(status.error().code, ErrorCode::kOutputFailed);
    EXPECT_THAT(status.error().message, testing::StartsWith(folder_.file("run.h5") + ": "));
    EXPECT_TRUE(std::filesystem::is_empty(folder_.path()));
    return status.error().message;
  }
  std::string refusal_at_the_end() {
    const auto written = stream_.finish(run_);
    return refusal(written ? Status{} : Status{tl::unexpected(written.error())});
  }

  const test::TempFolder folder_;
  RunFileStream stream_;
  RunTables run_;
  EventTables events_;
};

TEST_F(Refused, IsARowThatPointsToACallThatIsNotThere) {
  events_.kernels.api[0] = 1;
  resize_rows(events_.api, 1);
  EXPECT_THAT(refusal(stream_.append(events_)),
              HasSubstr("/events/kernels/api: row 0 points to row of /events/api 1 of 1"));
}

TEST_F(Refused, IsANameThatNobodyBrings) {
  events_.kernels.name[0] = StringId{1000};
  ASSERT_TRUE(stream_.append({}));
  ASSERT_TRUE(stream_.append(events_));
  EXPECT_THAT(refusal_at_the_end(), HasSubstr("/events/kernels/name: row 0 points to index of /strings/value 1000 of"));
}

TEST_F(Refused, IsAColumnThatWasForgotten) {
  events_.kernels.stream.clear();
  EXPECT_THAT(refusal(stream_.append(events_)), HasSubstr("/events/kernels/stream: 0 rows where its table has 1"));
}

TEST_F(Refused, IsALateColumnThatNeverCame) {
  resize_rows(events_.nccl, 2);
  events_.nccl.instance.clear();
  ASSERT_TRUE(stream_.append(events_));
  EXPECT_THAT(refusal_at_the_end(), HasSubstr("/events/nccl/instance: 0 rows where its table has 2"));
}

TEST_F(Refused, IsALateColumnWithAnInstanceThatIsNotThere) {
  resize_rows(events_.nccl, 1);
  events_.nccl.instance.clear();
  ASSERT_TRUE(stream_.append(events_));
  const std::uint64_t row = 0;
  EXPECT_THAT(refusal(stream_.append_instances({&row, 1})), HasSubstr("points to row of /collectives 0 of 0"));
}

TEST_F(Refused, AreMembersWithoutTheirEnds) {
  resize_rows(events_.collectives, 1);
  ASSERT_TRUE(stream_.append(events_));
  EXPECT_THAT(refusal_at_the_end(), HasSubstr("/collectives/member_offset: 1 values for 1 parts"));
}

TEST_F(Refused, IsAllThatFollowsAFailure) {
  events_.kernels.stream.clear();
  const std::string first = refusal(stream_.append(events_));
  EXPECT_EQ(refusal(stream_.append({})), first);
  EXPECT_EQ(refusal_at_the_end(), first);
}

TEST_F(Refused, IsAPartThatWasEncodedForAnotherPlace) {
  const EncodedPart part = encode_part(events_, RowPositions::none(), Compression::kGzip);
  ASSERT_TRUE(stream_.append_encoded(part));
  EXPECT_THAT(refusal(stream_.append_encoded(part)), HasSubstr("encoded for another place"));
}

TEST(EncodedPart, IsNotTakenWhenItIsCut) {
  const RunTables run = test::sample_run();
  const Bytes whole = encode_part(run, RowPositions::none(), Compression::kNone).packed();
  ASSERT_TRUE(EncodedPart::unpacked(whole));
  for (std::size_t size = 0; size < whole.size(); size += 1 + size / 16) {
    EXPECT_FALSE(EncodedPart::unpacked(std::span(whole).first(size))) << size;
  }
}

TEST(WriteOptions, WritesWithoutAnyFilter) {
  const test::TempFolder folder;
  const RunTables run = test::long_run(kChunkRows + 5);
  ASSERT_TRUE(write_run_file(run, folder.file("gzip.h5")));
  ASSERT_TRUE(write_run_file(run, folder.file("none.h5"), {.compression = Compression::kNone}));
  EXPECT_GT(std::filesystem::file_size(folder.file("none.h5")), 2 * std::filesystem::file_size(folder.file("gzip.h5")));
  const auto read = RunFileReader::open(folder.file("none.h5")).and_then([](const RunFileReader& reader) {
    return reader.read_all();
  });
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(read->nvtx.start_ns, run.nvtx.start_ns);
  EXPECT_EQ(read->nvtx.payload, run.nvtx.payload);
}

// Rows [first, last) of a table, as they come in stretches.
CounterTable stretch_of(const CounterTable& table, std::size_t first, std::size_t last) {
  CounterTable rows = table;
  rows.offset = {0};
  const auto keep = [first, last](auto& values) {
    values = {values.begin() + static_cast<std::ptrdiff_t>(first), values.begin() + static_cast<std::ptrdiff_t>(last)};
  };
  keep(rows.time_ns);
  keep(rows.read_ns);
  keep(rows.flags);
  for (CounterColumn& column : rows.columns) keep(column.values);
  return rows;
}

class CountersInStretches : public testing::Test {
 protected:
  CountersInStretches() : run_(test::sample_run()) {
    CounterTable& table = run_.counters.at(0);
    const std::size_t n = kChunkRows + 500;
    std::mt19937_64 random{9};
    table.time_ns.resize(n, 5);
    table.read_ns.resize(n, 6);
    table.flags.resize(n, 1);
    for (CounterColumn& column : table.columns) {
      while (column.values.size() < n) column.values.push_back(random() % 1000);
    }
    table.offset.back() = n;
  }
  // The sample's events, then counters cut at each of `borders`.
  Result<WrittenFile> written(const std::vector<std::size_t>& borders, const std::string& path) {
    auto stream = RunFileStream::create(path, {});
    EXPECT_TRUE(stream->append(run_));
    EXPECT_TRUE(stream->append_member_ends(std::span(run_.collective_member_offset).subspan(1)));
    const std::vector<CounterTable> whole = run_.counters;
    for (CounterTable& table : run_.counters) {
      const CounterTable rows = std::exchange(table, stretch_of(table, 0, 0));
      table.offset = rows.offset;
      std::size_t first = 0;
      for (const std::size_t border : borders) {
        const std::size_t last = std::min(border, rows.time_ns.size());
        EXPECT_TRUE(stream->append_counters(stretch_of(rows, first, last)));
        first = last;
      }
    }
    auto done = stream->finish(run_);
    run_.counters = whole;
    return done;
  }

  test::TempFolder folder_;
  RunTables run_;
};

TEST_F(CountersInStretches, MakeTheSameBytes) {
  const std::string path = folder_.file("whole.h5");
  ASSERT_TRUE(write_run_file(run_, path));
  const std::string whole = bytes_of(path);
  for (const std::vector<std::size_t>& borders :
       {std::vector<std::size_t>{kChunkRows + 500}, {1, 2, 70'000, kChunkRows, kChunkRows + 500}}) {
    const std::string parts = folder_.file(("parts" + std::to_string(borders.size())).c_str());
    const auto done = written(borders, parts);
    ASSERT_TRUE(done) << done.error().message;
    EXPECT_TRUE(bytes_of(parts) == whole) << borders.size() << " stretches";
  }
}

TEST_F(CountersInStretches, AreRefusedWhereOffsetsEndElsewhere) {
  const auto done = written({kChunkRows}, folder_.file("run.h5"));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, ErrorCode::kOutputFailed);
  EXPECT_THAT(done.error().message, HasSubstr("nic_offset: ends at 131572 of 131072 rows"));
}

TEST_F(CountersInStretches, AreRefusedWithOtherColumns) {
  auto stream = RunFileStream::create(folder_.file("run.h5"), {});
  ASSERT_TRUE(stream);
  CounterTable rows = stretch_of(run_.counters.at(0), 0, 5);
  ASSERT_TRUE(stream->append_counters(rows));
  rows.columns.pop_back();
  const auto refused = stream->append_counters(rows);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("rows that do not fit its columns"));
}

}  // namespace
}  // namespace jaxprof::runfile
