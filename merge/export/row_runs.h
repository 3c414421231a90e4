// Which rows of a table are exported, and a walk over them in bounded memory. Rows of a process lie together and by
// start, so that a span of time is found by halving, and of a table of any size only the chunks that hold it are read.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "merge/runfile/column_chunks.h"
#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/table_rows.h"
#include "merge/study/time_span.h"

namespace jaxprof::exporting {

// Rows [begin, end) of a table.
struct RowRun {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  bool operator==(const RowRun&) const = default;
};
// Ascending and disjoint.
using RowRuns = std::vector<RowRun>;

inline std::uint64_t count_rows(std::span<const RowRun> runs) {
  std::uint64_t n = 0;
  for (const RowRun& run : runs) n += run.end - run.begin;
  return n;
}

inline bool is_start_column(std::string_view path) {
  return path.ends_with("/start_ns");
}

// The first of `rows` that starts at `t_ns` or later; their end if none does. Starts ascend in them.
template <typename Table>
Result<std::uint64_t> first_row_from(const runfile::RunFileReader& reader, RowRun rows, std::int64_t t_ns) {
  Table table;
  if (t_ns == std::numeric_limits<std::int64_t>::max()) return rows.end;
  // Halved at the borders of chunks: each look inflates one.
  while (rows.begin / runfile::kChunkRows != (std::max(rows.end, std::uint64_t{1}) - 1) / runfile::kChunkRows) {
    const std::uint64_t half = rows.begin + (rows.end - rows.begin) / 2;
    const std::uint64_t border = half / runfile::kChunkRows * runfile::kChunkRows;
    const std::uint64_t middle = border > rows.begin ? border : border + runfile::kChunkRows;
    if (auto read = reader.read_rows(table, middle, 1, is_start_column); !read) return tl::unexpected(read.error());
    if (table.start_ns.front() < t_ns) {
      rows.begin = middle + 1;
    } else {
      rows.end = middle;
    }
  }
  if (rows.begin == rows.end) return rows.begin;
  auto read = reader.read_rows(table, rows.begin, rows.end - rows.begin, is_start_column);
  if (!read) return tl::unexpected(read.error());
  const auto at = std::lower_bound(table.start_ns.begin(), table.start_ns.end(), t_ns);
  return rows.begin + static_cast<std::uint64_t>(at - table.start_ns.begin());
}

// Those of `rows` that start in one of `spans`, which ascend and do not touch. Rows without a start are in none.
template <typename Table>
Result<RowRuns> rows_in(const runfile::RunFileReader& reader, RowRun rows, std::span<const study::TimeSpan> spans) {
  RowRuns runs;
  for (const study::TimeSpan& span : spans) {
    if (rows.begin == rows.end) break;
    const auto begin = first_row_from<Table>(reader, rows, std::max<std::int64_t>(span.begin_ns, 0));
    if (!begin) return tl::unexpected(begin.error());
    const auto end = first_row_from<Table>(reader, {*begin, rows.end}, span.end_ns);
    if (!end) return tl::unexpected(end.error());
    if (*begin < *end) runs.push_back({*begin, *end});
    rows.begin = *end;
  }
  return runs;
}

// The rows of `runs`, one after the other; no more than a chunk of the file is in memory. One thread; one walk of a
// table and reader at a time is cheap.
template <typename Table>
class RowWalk {
 public:
  RowWalk(const runfile::RunFileReader& reader, RowRuns runs, runfile::IsWanted is_wanted)
      : reader_(&reader), runs_(std::move(runs)), is_wanted_(std::move(is_wanted)) {}

  // Goes to the first row, then to the next one; false behind the last. kInputUnreadable.
  Result<bool> next() {
    if (++at_ < n_) return true;
    return load();
  }
  // The row is row at() of table(), row row() of the file.
  const Table& table() const { return table_; }
  std::size_t at() const { return at_; }
  std::uint64_t row() const { return first_ + at_; }

 private:
  Result<bool> load() {
    first_ += n_;
    while (run_ < runs_.size() && first_ >= runs_[run_].end) ++run_;
    n_ = at_ = 0;
    if (run_ == runs_.size()) return false;
    first_ = std::max(first_, runs_[run_].begin);
    const std::uint64_t chunk_end = (first_ / runfile::kChunkRows + 1) * runfile::kChunkRows;
    n_ = std::min(runs_[run_].end, chunk_end) - first_;
    if (auto read = reader_->read_rows(table_, first_, n_, is_wanted_); !read) return tl::unexpected(read.error());
    return true;
  }

  const runfile::RunFileReader* reader_;
  RowRuns runs_;
  runfile::IsWanted is_wanted_;
  Table table_;
  std::size_t run_ = 0;
  std::uint64_t first_ = 0;  // row of the file that is row 0 of table_
  std::uint64_t n_ = 0;
  std::size_t at_ = 0;
};

}  // namespace jaxprof::exporting
