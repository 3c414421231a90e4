// For a web page or a pull request. A pipe would end its cell and a line break its table, so both are escaped; so is
// what Markdown would read as markup.
#include "merge/study/human.h"
#include "merge/study/render.h"

namespace jaxprof::study {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += "<br>";
      continue;
    }
    if (c == '<') {
      out += "&lt;";
      continue;
    }
    if (std::string_view{"\\|*_`["}.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::string render_md(const Table& table, bool is_wide) {
  std::string out = "**verdict** " + escaped(table.verdict) + "\n\n";
  if (!table.heading.empty()) out += escaped(table.heading) + "\n\n";
  if (table.rows.empty()) {
    out += "no rows: " + escaped(table.empty_reason) + "\n";
  } else {
    const auto shown = shown_columns(table, is_wide);
    std::string rule = "|";
    out += "|";
    for (const std::size_t i : shown) {
      out += " " + escaped(table.columns[i].heading) + " |";
      rule += "---|";
    }
    out += "\n" + rule + "\n";
    for (const Row& row : table.rows) {
      out += "|";
      for (const std::size_t i : shown) {
        const auto* text = std::get_if<std::string>(&row[i]);
        const std::string cell =
            text != nullptr ? *text : human_cell(row[i], table.columns[i].unit, unit_of_row(table, row));
        out += " " + escaped(cell) + " |";
      }
      out += "\n";
    }
  }
  for (const std::string& note : table.notes) out += "\n" + escaped(note) + "\n";
  return out;
}

}  // namespace jaxprof::study
