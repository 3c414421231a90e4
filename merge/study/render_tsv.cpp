// Tab-separated: no quoting, so what would break a line or a cell is escaped with a backslash.
#include "merge/study/human.h"
#include "merge/study/render.h"

namespace jaxprof::study {
namespace {

std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\t':
        out += "\\t";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\r':
        out += "\\r";
        break;
      case '\\':
        out += "\\\\";
        break;
      default:
        out += c;
    }
  }
  return out;
}

}  // namespace

std::string render_tsv(const Table& table) {
  std::string out;
  for (const Column& column : table.columns) out += (out.empty() ? "" : "\t") + escaped(column.name);
  out += "\n";
  for (const Row& row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) out += (i > 0 ? "\t" : "") + escaped(exact_cell(row[i]));
    out += "\n";
  }
  return out;
}

}  // namespace jaxprof::study
