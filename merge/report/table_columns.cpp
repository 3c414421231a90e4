#include "merge/report/table_columns.h"

#include <limits>

namespace jaxprof::report {

std::size_t column_of(const study::Table& table, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return i;
  }
  return kNoColumn;
}

double number_at(const study::Row& row, std::size_t column) {
  if (column >= row.size()) return std::numeric_limits<double>::quiet_NaN();
  if (const auto* whole = std::get_if<std::int64_t>(&row[column])) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&row[column])) return *real;
  return std::numeric_limits<double>::quiet_NaN();
}

std::int64_t integer_at(const study::Row& row, std::size_t column) {
  const auto* whole = column < row.size() ? std::get_if<std::int64_t>(&row[column]) : nullptr;
  return whole == nullptr ? kNoInteger : *whole;
}

std::string text_at(const study::Row& row, std::size_t column) {
  const auto* text = column < row.size() ? std::get_if<std::string>(&row[column]) : nullptr;
  return text == nullptr ? std::string() : *text;
}

}  // namespace jaxprof::report
