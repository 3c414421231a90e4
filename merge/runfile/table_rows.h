// A table is many vectors, and a row added by hand forgets one of them sooner or later. These functions treat a
// table as rows: count, add a row that is missing everywhere until it is filled in, resize, reorder.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "merge/runfile/schema.h"

namespace jaxprof::runfile {

// Rows of `table`, taken from its first column; the writer checks that all columns agree.
template <typename Table>
std::size_t n_rows(const Table& table) {
  std::size_t rows = 0;
  bool is_first = true;
  for_each_column(table, [&](const auto&, const auto& column) {
    if (std::exchange(is_first, false)) rows = column.size();
  });
  return rows;
}

// The length of the longest column: the rows of a table of which only some columns were read.
template <typename Table>
std::size_t longest_column(const Table& table) {
  std::size_t rows = 0;
  for_each_column(table, [&rows](const auto&, const auto& column) { rows = std::max(rows, column.size()); });
  return rows;
}

template <typename Table>
const char* first_column_name(const Table& table) {
  const char* name = nullptr;
  for_each_column(table, [&name](const auto& spec, const auto&) { name = name == nullptr ? spec.name : name; });
  return name;
}

// Makes `table` `rows` long; new rows hold each column's missing value.
template <typename Table>
void resize_rows(Table& table, std::size_t rows) {
  for_each_column(table, [rows](const auto& spec, auto& column) { column.resize(rows, spec.missing); });
}

// Adds one row of missing values and returns its position.
template <typename Table>
std::size_t add_row(Table& table) {
  const std::size_t row = n_rows(table);
  for_each_column(table, [](const auto& spec, auto& column) { column.push_back(spec.missing); });
  return row;
}

// Adds the rows of `from` behind those of `to`; columns that point to rows are not adjusted.
template <typename Table>
void append_rows(Table& to, const Table& from) {
  std::vector<const void*> columns;  // of `from`, each of the type that the same column of `to` has
  for_each_column(from, [&columns](const auto&, const auto& column) { columns.push_back(&column); });
  std::size_t next = 0;
  for_each_column(to, [&]<typename T>(const ColumnSpec<T>&, std::vector<T>& column) {
    const auto& more = *static_cast<const std::vector<T>*>(columns[next++]);
    column.insert(column.end(), more.begin(), more.end());
  });
}

// Row i becomes what row order[i] was. `order` holds each row once; columns that point to rows are not adjusted.
template <typename Table>
void reorder_rows(Table& table, std::span<const std::size_t> order) {
  for_each_column(table, [order](const auto&, auto& column) {
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(order.size());
    for (const std::size_t from : order) sorted.push_back(column[from]);
    column = std::move(sorted);
  });
}

// Gives the offsets of every table without rows their zeros; the tables that offsets divide by are filled.
inline void fill_empty_offsets(RunTables& run) {
  for_each_offset(run,
                  [](const OffsetSpec&, std::vector<std::uint64_t>& offset, std::size_t n_parts, std::size_t n_rows) {
                    if (n_rows == 0 && offset.size() == 1) offset.assign(n_parts + 1, 0);
                  });
}

}  // namespace jaxprof::runfile
