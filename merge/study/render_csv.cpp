// Comma-separated after RFC 4180, but with plain line feeds, which every reader takes.
#include "merge/study/human.h"
#include "merge/study/render.h"

namespace jaxprof::study {
namespace {

std::string quoted(const std::string& text) {
  if (text.find_first_of("\",\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

}  // namespace

std::string render_csv(const Table& table) {
  std::string out;
  for (const Column& column : table.columns) out += (out.empty() ? "" : ",") + quoted(column.name);
  out += "\n";
  for (const Row& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "," : "") + quoted(exact_cell(row[i]));
    out += "\n";
  }
  return out;
}

}  // namespace jaxprof::study
