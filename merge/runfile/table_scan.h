// Whoever counts in a table needs each row once, in no order, and never the whole table. This walks over the columns
// of a table on several threads, a stretch at a time each, past HDF5: the reader has asked it where the chunks lie.
// 2 cores count in 150 million rows a second so, where HDF5 alone gives 40.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "merge/runfile/check.h"
#include "merge/runfile/chunk_cursor.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {

struct ScannedColumn {
  std::string path;
  bool is_wanted = false;
  std::optional<ChunkPlaces> places;  // nothing: the file lacks the column, all its values are missing
};

template <typename Table>
class TableScan {
 public:
  using Take = std::function<void(const Table& rows, std::uint64_t first)>;

  // `columns` are the table's, in order, of `n_rows` each; `limits` what indices may point to. All outlive the scan.
  TableScan(int fd, const std::vector<ScannedColumn>& columns, std::uint64_t n_rows, const TableRows& limits)
      : fd_(fd), columns_(columns), n_rows_(n_rows), limits_(limits) {}

  // `take` is called by all threads, at the same time. Of several failures the first that came.
  Status run(unsigned n_threads, const Take& take) {
    const std::uint64_t n_stretches = (n_rows_ + kChunkRows - 1) / kChunkRows;
    {
      std::vector<std::jthread> others;
      for (std::uint64_t i = 1; i < std::min<std::uint64_t>(n_threads, n_stretches); ++i) {
        others.emplace_back([this, &take] { scan(take); });
      }
      scan(take);
    }
    return std::move(status_);
  }

 private:
  void scan(const Take& take) {
    ChunkDecoder decoder;
    std::vector<std::optional<ChunkCursor>> cursors;
    for (const ScannedColumn& column : columns_) {
      cursors.push_back(column.places ? std::optional<ChunkCursor>(std::in_place, fd_, *column.places) : std::nullopt);
    }
    Table rows;
    for (;;) {
      const std::uint64_t first = next_.fetch_add(kChunkRows);
      if (first >= n_rows_) return;
      if (auto filled = fill(rows, first, cursors, decoder); !filled) return fail_with(std::move(filled));
      take(rows, first);
    }
  }

  Status fill(Table& rows, std::uint64_t first, std::vector<std::optional<ChunkCursor>>& cursors,
              ChunkDecoder& decoder) const {
    const std::uint64_t n = std::min<std::uint64_t>(kChunkRows, n_rows_ - first);
    std::size_t next = 0;
    Status status;
    for_each_column(rows, [&]<typename T>(const ColumnSpec<T>& spec, std::vector<T>& values) {
      const std::size_t index = next++;
      const ScannedColumn& column = columns_[index];
      if (!status || !column.is_wanted) return;
      values.resize(n, spec.missing);
      if (!cursors[index]) return;
      status =
          cursors[index]->read(first, std::as_writable_bytes(std::span(values)), decoder).map_error([&](Error&& e) {
            return std::move(e).wrap("dataset " + column.path);
          });
      if (status) status = check_indices(spec, column.path, std::span<const T>(values), first, limits_);
    });
    return status;
  }

  void fail_with(Status&& status) {
    next_ = n_rows_;
    const std::lock_guard lock(mutex_);
    if (status_) status_ = std::move(status);
  }

  const int fd_;
  const std::vector<ScannedColumn>& columns_;
  const std::uint64_t n_rows_;
  const TableRows& limits_;
  std::atomic<std::uint64_t> next_ = 0;
  std::mutex mutex_;
  Status status_;
};

}  // namespace jaxprof::runfile
