// What the formats share.
#include "merge/study/render.h"

namespace jaxprof::study {

std::optional<Format> format_from_word(std::string_view word) {
  if (word == "table") return Format::kTable;
  if (word == "csv") return Format::kCsv;
  if (word == "tsv") return Format::kTsv;
  if (word == "json") return Format::kJson;
  if (word == "md") return Format::kMd;
  return std::nullopt;
}

std::string render(const Table& table, const RenderOptions& options) {
  switch (options.format) {
    case Format::kCsv:
      return render_csv(table);
    case Format::kTsv:
      return render_tsv(table);
    case Format::kJson:
      return render_json(table);
    case Format::kMd:
      return render_md(table, options.is_wide);
    case Format::kTable:
      break;
  }
  return render_table(table, options.is_wide);
}

std::vector<std::size_t> shown_columns(const Table& table, bool is_wide) {
  std::vector<std::size_t> shown;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name != "unit" && (is_wide || !table.columns[i].is_detail)) shown.push_back(i);
  }
  return shown;
}

std::string unit_of_row(const Table& table, const Row& row) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name != "unit") continue;
    const auto* word = std::get_if<std::string>(&row[i]);
    return word != nullptr ? *word : std::string{};
  }
  return {};
}

}  // namespace jaxprof::study
