// The tables of events while they are streamed: how many rows each has so far, its columns as chunks, and the highest
// index of each column, since what it points to may come later. Faults are found as soon as they can be known. No HDF5
// here.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/check.h"
#include "merge/runfile/column_chunks.h"
#include "merge/runfile/encoded_part.h"

namespace jaxprof::runfile {

struct StreamedTable {
  // What a column is called, what it points to, and the highest index in it.
  struct Column {
    std::string path;
    const char* unit;
    std::optional<HighestIndex> highest;
  };

  const char* path = nullptr;
  bool is_a_target = true;  // members of instances have no table of their own that could be pointed to
  std::uint64_t n_rows = 0;
  std::vector<Column> facts;
  std::vector<ColumnChunks> columns;
};

// The thread that submits to the pool. Failures are kOutputFailed with the column and the fault; after one this is of
// no use.
class StreamedTables {
 public:
  explicit StreamedTables(ChunkPool& pool);
  StreamedTables(const StreamedTables&) = delete;
  StreamedTables& operator=(const StreamedTables&) = delete;

  Status append(const EventTables& part);
  Status append_encoded(const EncodedPart& part);
  // Values of a column that parts may leave out, by its path.
  Status append_late(std::string_view path, std::span<const std::uint64_t> values);
  Status append_member_ends(std::span<const std::uint64_t> positions);

  RowPositions rows() const;
  // Puts the rows of every table into `rows`.
  void add_rows_to(TableRows& rows) const;
  // Whether all columns are there and all indices point to rows; `rows` are those of the whole run.
  Status check_whole(const TableRows& rows) const;
  // Encodes what is left; nothing may be appended after it.
  void close();

  const std::vector<StreamedTable>& tables() const { return tables_; }  // in the order of for_each_event_table
  const ColumnChunks& member_offset() const { return member_offset_; }

 private:
  Status take_facts(StreamedTable& table, std::size_t column, const ColumnFacts& facts, std::uint64_t first_row);
  Status check_index(const StreamedTable::Column& column, const TableRows& rows) const;

  std::vector<StreamedTable> tables_;
  TableRows rows_;  // of tables_, by path
  ColumnChunks member_offset_;
  std::uint64_t last_member_end_ = 0;
};

}  // namespace jaxprof::runfile
