// Writes the groups below /counters: one group a driver, one dataset a counter, and what the counter means as the
// dataset's attributes. Rows are in memory, or came in stretches before. The writing thread only.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/chunk_pool.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/counter_table.h"
#include "merge/runfile/hdf5_handle.h"

namespace jaxprof::runfile {

// A group's rows on their way into the file: a chunk a column of memory.
class CounterChunks {
 public:
  // Of a group with the columns of `table`. `pool` outlives it.
  CounterChunks(ChunkPool& pool, const CounterTable& table);

  // The next rows. kOutputFailed if they have other columns or these are not of one length.
  Status append(const CounterTable& rows);
  // Encodes what is left; nothing may be appended after it.
  void close();

  std::uint64_t rows() const { return rows_; }
  const std::vector<ColumnChunks>& columns() const { return columns_; }  // the fixed ones, then those of the driver

 private:
  std::vector<ColumnChunks> columns_;
  std::uint64_t rows_ = 0;
};

// `rows` are closed, of this table, and their pool has nothing pending. kOutputFailed where the table's offsets end
// elsewhere.
Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table, const CounterChunks& rows);
// The same of a table that has its rows.
Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table);

// The dataset of a counter: its name, with what a path cannot hold replaced. Two names of one group may come out alike.
std::string counter_dataset_name(std::string_view name);

}  // namespace jaxprof::runfile
