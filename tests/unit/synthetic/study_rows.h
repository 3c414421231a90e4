// A study's table as a test asks it: by the names of its columns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "merge/study/table.h"

namespace jaxprof::test {

class StudyRows {
 public:
  // `table` is borrowed.
  explicit StudyRows(const study::Table& table) : table_(table) {}

  std::size_t size() const { return table_.rows.size(); }
  // Missing where there is no such column.
  study::Cell at(std::size_t row, std::string_view column) const {
    const auto found = std::find_if(table_.columns.begin(), table_.columns.end(),
                                    [column](const study::Column& c) { return c.name == column; });
    if (found == table_.columns.end()) return study::Missing{};
    return table_.rows[row][static_cast<std::size_t>(found - table_.columns.begin())];
  }
  // NaN-free: `otherwise` for what is missing or text.
  double number(std::size_t row, std::string_view column, double otherwise) const {
    const study::Cell cell = at(row, column);
    if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
    const auto* real = std::get_if<double>(&cell);
    return real != nullptr ? *real : otherwise;
  }
  // "" for what is missing or a number.
  std::string text(std::size_t row, std::string_view column) const {
    const study::Cell cell = at(row, column);
    const auto* text = std::get_if<std::string>(&cell);
    return text != nullptr ? *text : "";
  }
  double parameter(std::string_view name, double otherwise) const {
    for (const auto& [key, cell] : table_.parameters) {
      if (key == name && std::holds_alternative<std::int64_t>(cell)) {
        return static_cast<double>(std::get<std::int64_t>(cell));
      }
    }
    return otherwise;
  }

 private:
  const study::Table& table_;
};

}  // namespace jaxprof::test
