// For a terminal: verdict first, columns as wide as their widest cell, numbers to the right, notes below.
#include "merge/study/human.h"
#include "merge/study/render.h"

namespace jaxprof::study {
namespace {

struct Grid {
  std::vector<std::vector<std::string>> lines;  // the first holds the headings
  std::vector<std::size_t> widths;
  std::vector<bool> is_number;
};

Grid layout(const Table& table, const std::vector<std::size_t>& shown) {
  Grid grid;
  grid.lines.emplace_back();
  for (const std::size_t i : shown) {
    grid.lines.front().push_back(table.columns[i].heading);
    grid.widths.push_back(width(table.columns[i].heading));
    grid.is_number.push_back(false);
  }
  for (const Row& row : table.rows) {
    std::vector<std::string>& line = grid.lines.emplace_back();
    for (std::size_t k = 0; k < shown.size(); ++k) {
      const Cell& cell = row[shown[k]];
      line.push_back(human_cell(cell, table.columns[shown[k]].unit, unit_of_row(table, row)));
      grid.widths[k] = std::max(grid.widths[k], width(line.back()));
      if (std::holds_alternative<std::int64_t>(cell) || std::holds_alternative<double>(cell)) grid.is_number[k] = true;
    }
  }
  return grid;
}

std::string aligned(const Grid& grid) {
  std::string out;
  for (const auto& line : grid.lines) {
    std::string text;
    for (std::size_t k = 0; k < line.size(); ++k) {
      const std::string padding(grid.widths[k] - width(line[k]), ' ');
      text += (k == 0 ? " " : "  ") + (grid.is_number[k] ? padding + line[k] : line[k] + padding);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    out += text + "\n";
  }
  return out;
}

}  // namespace

std::string render_table(const Table& table, bool is_wide) {
  std::string out = "verdict  " + printable(table.verdict) + "\n\n";
  if (!table.heading.empty()) out += printable(table.heading) + "\n";
  out += table.rows.empty() ? "no rows: " + printable(table.empty_reason) + "\n"
                            : aligned(layout(table, shown_columns(table, is_wide)));
  for (const std::string& note : table.notes) out += printable(note) + "\n";
  return out;
}

}  // namespace jaxprof::study
