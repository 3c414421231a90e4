// A walk over the rows of a large table, of which one stretch at a time is in memory. Stretches are whole chunks of the
// file, so that each is inflated once.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "merge/runfile/run_file_reader.h"

namespace jaxprof::study {

// Rows of a stretch: two chunks of a run file.
inline constexpr std::uint64_t kStretchRows = 262'144;

// One thread, and one cursor of a reader at a time.
template <typename Table>
class RowCursor {
 public:
  static Result<RowCursor> open(const runfile::RunFileReader& reader, runfile::IsWanted is_wanted) {
    return reader.count_rows<Table>().map(
        [&](std::uint64_t n_rows) { return RowCursor(reader, std::move(is_wanted), n_rows); });
  }

  std::uint64_t n_rows() const { return n_rows_; }
  // The stretch that is held: rows [begin(), end()) of the table are rows from 0 on of table().
  std::uint64_t begin() const { return begin_; }
  std::uint64_t end() const { return end_; }
  const Table& table() const { return table_; }

  // Holds `row`, which must exist; cheap if it is held, and cheapest in order.
  Status seek(std::uint64_t row) {
    if (row >= begin_ && row < end_) return {};
    begin_ = row / kStretchRows * kStretchRows;
    end_ = begin_;  // nothing, should reading fail
    const std::uint64_t n = std::min(kStretchRows, n_rows_ - std::min(n_rows_, begin_));
    return reader_->read_rows(table_, begin_, n, is_wanted_).map([this, n] { end_ = begin_ + n; });
  }

 private:
  RowCursor(const runfile::RunFileReader& reader, runfile::IsWanted is_wanted, std::uint64_t n_rows)
      : reader_(&reader), is_wanted_(std::move(is_wanted)), n_rows_(n_rows) {}

  const runfile::RunFileReader* reader_;
  runfile::IsWanted is_wanted_;
  std::uint64_t n_rows_;
  std::uint64_t begin_ = 0;
  std::uint64_t end_ = 0;
  Table table_;
};

}  // namespace jaxprof::study
