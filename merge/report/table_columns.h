// Cells of a study's table by the name of their column.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "merge/study/table.h"

namespace jaxprof::report {

inline constexpr std::size_t kNoColumn = static_cast<std::size_t>(-1);

std::size_t column_of(const study::Table& table, std::string_view name);  // kNoColumn if there is none
// NaN, kNoInteger and "" where the column is not there or the cell is missing.
inline constexpr std::int64_t kNoInteger = std::int64_t{-1} << 62;
double number_at(const study::Row& row, std::size_t column);
std::int64_t integer_at(const study::Row& row, std::size_t column);
std::string text_at(const study::Row& row, std::size_t column);

}  // namespace jaxprof::report
