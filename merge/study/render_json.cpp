// One object, keys in the order of the columns. nlohmann-json escapes; text that is not UTF-8 is replaced, not thrown.
#include <cmath>
#include <nlohmann/json.hpp>

#include "merge/runfile/schema.h"
#include "merge/study/render.h"

namespace jaxprof::study {
namespace {

using Json = nlohmann::ordered_json;

Json value(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) return *real;
  return nullptr;
}

}  // namespace

std::string render_json(const Table& table) {
  Json document;
  document["study"] = table.study;
  document["schema_version"] = runfile::kSchemaVersion;
  document["parameters"] = Json::object();
  for (const auto& [name, cell] : table.parameters) document["parameters"][name] = value(cell);
  document["verdict"] = table.rows.empty() ? table.verdict + "; no rows: " + table.empty_reason : table.verdict;
  document["notes"] = table.notes;
  document["rows"] = Json::array();
  for (const Row& row : table.rows) {
    Json& object = document["rows"].emplace_back(Json::object());
    for (std::size_t i = 0; i < row.size(); ++i) object[table.columns[i].name] = value(row[i]);
  }
  return document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace jaxprof::study
