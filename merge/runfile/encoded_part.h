// A part of a run's tables of events, made ready to be put into the file: where a chunk of a column lies whole within
// the part, it is encoded; what belongs to a chunk that other parts fill as well is left as it is. A part is encoded by
// any thread, or on another machine, which need to know only how many rows come before it. No HDF5 here.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/check.h"
#include "merge/runfile/chunk_encoder.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::runfile {

// Rows of each table of events, in the order of for_each_event_table.
struct RowPositions {
  std::vector<std::uint64_t> rows;

  // None of any table.
  static RowPositions none();
  static RowPositions of(const EventTables& part);
  RowPositions& operator+=(const RowPositions& more);
  bool operator==(const RowPositions&) const = default;
};

// What must be known of a column to put it behind those of the parts before.
struct ColumnFacts {
  std::uint64_t n_rows = 0;
  std::optional<HighestIndex> highest;  // `row` counts within the part

  bool operator==(const ColumnFacts&) const = default;
};

template <typename T>
ColumnFacts facts_of(const ColumnSpec<T>& spec, const std::vector<T>& column) {
  return {column.size(), highest_index(spec, std::span<const T>(column))};
}

// One column of a part. All is empty of a column that comes later, by itself.
struct ColumnPieces {
  ColumnFacts facts;
  Bytes head;                 // elements up to the end of the chunk that the part begins in
  std::vector<Bytes> chunks;  // encoded
  Bytes tail;                 // elements of the chunk that the part ends in

  bool operator==(const ColumnPieces&) const = default;
};

struct TablePieces {
  std::uint64_t first_row = 0;
  std::vector<ColumnPieces> columns;  // in the order of for_each_column

  bool operator==(const TablePieces&) const = default;
};

struct EncodedPart {
  std::vector<TablePieces> tables;  // in the order of for_each_event_table

  // As bytes, to be sent: numbers of eight bytes and what they count. Both ends are the same program.
  Bytes packed() const;
  // kInputUnreadable if `bytes` are not what packed() gave.
  static Result<EncodedPart> unpacked(std::span<const std::byte> bytes);
  bool operator==(const EncodedPart&) const = default;
};

// `first_rows` are the rows of all parts before. Any thread; depends on its arguments alone.
EncodedPart encode_part(const EventTables& part, const RowPositions& first_rows, Compression compression);

}  // namespace jaxprof::runfile
