// Cells of a study's table by the name of their column, for tests.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "merge/study/table.h"

namespace jaxprof::study::test {

inline Cell cell_at(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row).at(i);
  }
  ADD_FAILURE() << "no column " << name;
  return Missing{};
}
inline std::int64_t whole_at(const Table& table, std::size_t row, std::string_view name) {
  const Cell cell = cell_at(table, row, name);
  if (const auto* value = std::get_if<std::int64_t>(&cell)) return *value;
  ADD_FAILURE() << name << " of row " << row << " is no whole number";
  return -1;
}
inline double real_at(const Table& table, std::size_t row, std::string_view name) {
  const Cell cell = cell_at(table, row, name);
  if (const auto* value = std::get_if<double>(&cell)) return *value;
  ADD_FAILURE() << name << " of row " << row << " is no real number";
  return -1;
}
inline std::string text_at(const Table& table, std::size_t row, std::string_view name) {
  const Cell cell = cell_at(table, row, name);
  if (const auto* value = std::get_if<std::string>(&cell)) return *value;
  ADD_FAILURE() << name << " of row " << row << " is no text";
  return "";
}
inline bool is_missing_at(const Table& table, std::size_t row, std::string_view name) {
  return std::holds_alternative<Missing>(cell_at(table, row, name));
}

}  // namespace jaxprof::study::test
