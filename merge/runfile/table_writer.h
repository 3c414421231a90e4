// A table on its way into the file: its columns as chunks, then as the datasets of a group. Rows of tables of events
// come in parts; those of the other tables are in memory and go the same way at once.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/attributes.h"
#include "merge/runfile/column_dataset.h"
#include "merge/runfile/compound_table.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {

// Columns without rows, in the order of for_each_column.
template <typename Table>
std::vector<ColumnChunks> empty_columns(const Table& table, ChunkPool& pool) {
  std::vector<ColumnChunks> columns;
  for_each_column(table, [&](const auto& spec, const auto&) { columns.emplace_back(pool, element_of(spec.missing)); });
  return columns;
}

// Adds the rows of `table` to its columns.
template <typename Table>
void append_rows(std::vector<ColumnChunks>& columns, const Table& table) {
  std::size_t next = 0;
  for_each_column(table,
                  [&](const auto&, const auto& values) { columns[next++].append(std::as_bytes(std::span(values))); });
}

// Writes a table of which only the type and the place matter: its rows are in `columns`, which are closed.
template <typename Table>
Status write_columns(hid_t file, const Table& table, const std::vector<ColumnChunks>& columns, std::uint64_t rows) {
  const TableSpec spec = spec_of(table);
  Status status;
  std::size_t next = 0;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& column, const auto&) {
    const ColumnText text{std::string(spec.path) + "/" + column.name, column.unit, column.long_name};
    if (status) status = write_column_dataset(file, text, file_type<T>(file).get(), columns[next++]);
  });
  if (!status) return status;
  const Handle group{H5Gopen2(file, spec.path, H5P_DEFAULT), H5Gclose};
  status = write_attribute(group.get(), spec.rows_attribute, rows);
  if (status && std::string_view{spec.rows_attribute} == "n_rows") {
    status = write_text_attribute(group.get(), "sorted_by", spec.sorted_by);
    if (status) status = write_text_attribute(group.get(), "long_name", spec.long_name);
  }
  return std::move(status).map_error([&spec](Error&& error) { return std::move(error).wrap(spec.path); });
}

// All of a table that is in memory.
template <typename Table>
Status write_table(hid_t file, ChunkPool& pool, const Table& table) {
  const TableSpec spec = spec_of(table);
  if (spec.is_compound) return write_compound(file, spec, pack_rows(table, file), pool.compression());
  auto columns = empty_columns(table, pool);
  append_rows(columns, table);
  for (ColumnChunks& column : columns) column.close();
  return pool.wait().and_then([&] { return write_columns(file, table, columns, n_rows(table)); });
}

}  // namespace jaxprof::runfile
