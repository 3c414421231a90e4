// A column is of whole numbers, reals or text by what is in its cells; missing is the least number, NaN or "".
#include "merge/study/save.h"

#include <algorithm>
#include <limits>

#include "merge/runfile/analysis_file.h"

namespace jaxprof::study {
namespace {

const char* unit_word(Unit unit) {
  switch (unit) {
    case Unit::kTimeNs:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kGbPerS:
      return "GB/s";
    case Unit::kRatio:
      return "1";
    default:
      return "";
  }
}

template <typename T>
bool is_any(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [column](const Row& row) { return std::holds_alternative<T>(row[column]); });
}

std::string text_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&cell)) return std::to_string(*real);
  return {};
}

double real_of(const Cell& cell) {
  if (const auto* real = std::get_if<double>(&cell)) return *real;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::numeric_limits<double>::quiet_NaN();
}

runfile::AnalysisColumn column_of(const Table& table, std::size_t index) {
  const Column& column = table.columns[index];
  runfile::AnalysisColumn saved{column.name, unit_word(column.unit), column.heading, {}};
  const auto fill = [&](auto values, const auto& value_of) {
    for (const Row& row : table.rows) values.push_back(value_of(row[index]));
    saved.values = std::move(values);
  };
  if (is_any<std::string>(table, index)) {
    fill(std::vector<std::string>{}, text_of);
  } else if (is_any<double>(table, index)) {
    fill(std::vector<double>{}, real_of);
  } else {
    fill(std::vector<std::int64_t>{}, [](const Cell& cell) {
      const auto* whole = std::get_if<std::int64_t>(&cell);
      return whole == nullptr ? std::numeric_limits<std::int64_t>::min() : *whole;
    });
  }
  return saved;
}

}  // namespace

std::string analysis_path(const std::string& run_file) {
  constexpr std::string_view kEnding = ".h5";
  const bool has_ending = run_file.size() > kEnding.size() && run_file.ends_with(kEnding);
  return run_file.substr(0, run_file.size() - (has_ending ? kEnding.size() : 0)) + ".analysis.h5";
}

Status save_table(const Table& table, const std::string& run_file) {
  runfile::AnalysisTable saved;
  saved.name = table.study;
  saved.long_name = table.heading;
  saved.verdict = table.rows.empty() ? table.verdict + "; no rows: " + table.empty_reason : table.verdict;
  for (const auto& [name, cell] : table.parameters) saved.parameters.emplace_back(name, text_of(cell));
  for (std::size_t i = 0; i < table.columns.size(); ++i) saved.columns.push_back(column_of(table, i));
  return runfile::write_analysis_table(saved, analysis_path(run_file));
}

}  // namespace jaxprof::study
