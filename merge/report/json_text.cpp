#include "merge/report/json_text.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace jaxprof::report {
namespace {

using Json = nlohmann::ordered_json;
using study::Cell;
using study::Table;
using study::Unit;

const char* word(Unit unit) {
  switch (unit) {
    case Unit::kTimeNs:
      return "ns";
    case Unit::kBytes:
      return "bytes";
    case Unit::kGbPerS:
      return "GB/s";
    case Unit::kShare:
      return "share";
    case Unit::kRatio:
      return "ratio";
    case Unit::kUnitOfRow:
      return "row";
    case Unit::kNone:
      break;
  }
  return "";
}

const char* word(study::Finding finding) {
  return finding == study::Finding::kCritical ? "critical" : finding == study::Finding::kWarning ? "warning" : "none";
}

Json json_of(const Cell& cell) {
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return *whole;
  if (const auto* real = std::get_if<double>(&cell); real != nullptr && std::isfinite(*real)) return *real;
  return nullptr;
}

Json json_of(const Table& table, std::size_t most_rows) {
  Json json;
  json["heading"] = table.heading;
  json["verdict"] = table.verdict;
  json["parameters"] = Json::object();
  for (const auto& [name, cell] : table.parameters) json["parameters"][name] = json_of(cell);
  json["columns"] = Json::array();
  for (const study::Column& column : table.columns) {
    Json one = {{"name", column.name}, {"heading", column.heading}, {"unit", word(column.unit)}};
    if (column.is_detail) one["detail"] = true;
    json["columns"].push_back(std::move(one));
  }
  json["rows"] = Json::array();
  for (std::size_t i = 0; i < std::min(most_rows, table.rows.size()); ++i) {
    Json row = Json::array();
    for (const Cell& cell : table.rows[i]) row.push_back(json_of(cell));
    json["rows"].push_back(std::move(row));
  }
  json["n_rows"] = table.rows.size();
  json["notes"] = table.notes;
  json["empty_reason"] = table.empty_reason;
  return json;
}

// Times in whole ns, shares to a hundredth of a percent, else three decimals: a map has a quarter of a million of them.
Json map_number(double value, Unit unit) {
  if (!std::isfinite(value)) return nullptr;
  const double scale = unit == Unit::kTimeNs ? 1 : unit == Unit::kShare ? 1e4 : 1e3;
  const double rounded = std::round(value * scale);
  if (std::abs(rounded) > 9e15) return value;
  if (std::fmod(rounded, scale) == 0) return static_cast<std::int64_t>(rounded / scale);
  return rounded / scale;
}

Json json_of(const FigureMap& map) {
  Json json = {{"row_name", map.row_name},
               {"row_labels", map.row_labels},
               {"row_hosts", map.row_hosts},
               {"column_name", map.column_name},
               {"column_unit", word(map.column_unit)}};
  for (const auto& [name, numbers] :
       {std::pair{"column_begins", &map.column_begins}, {"column_ends", &map.column_ends}}) {
    json[name] = Json::array();
    for (const double number : *numbers) json[name].push_back(map_number(number, Unit::kTimeNs));
  }
  const std::size_t width = map.column_begins.size();
  json["layers"] = Json::array();
  for (const MapLayer& layer : map.layers) {
    Json rows = Json::array();
    for (std::size_t row = 0; row < map.row_labels.size(); ++row) {
      Json& values = rows.emplace_back(Json::array());
      for (std::size_t i = 0; i < width; ++i) values.push_back(map_number(layer.values[row * width + i], layer.unit));
    }
    json["layers"].push_back({{"name", layer.name},
                              {"heading", layer.heading},
                              {"unit", word(layer.unit)},
                              {"signed", layer.is_signed},
                              {"rows", std::move(rows)}});
  }
  return json;
}

Json json_of(const Figure& figure) {
  Json json = {{"id", figure.id},
               {"title", figure.title},
               {"definition", figure.definition},
               {"study", figure.study},
               {"empty_reason", figure.empty_reason}};
  json["tables"] = Json::object();
  for (const auto& [name, table] : figure.tables) json["tables"][name] = json_of(table, table.rows.size());
  if (!figure.map.is_empty()) json["map"] = json_of(figure.map);
  return json;
}

// '<' stands only inside of strings there: as an escape it is the same text, and no tag.
std::string without_tags(const std::string& json) {
  std::string text;
  text.reserve(json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') {
      text += "\\u003c";
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string page_json(const PageFacts& facts, const std::vector<Answer>& answers, const std::vector<Figure>& figures,
                      std::size_t most_rows) {
  Json page;
  page["facts"] = {{"tool", facts.tool},
                   {"run_file", facts.run_file},
                   {"run_id", facts.run_id},
                   {"command", facts.command},
                   {"epoch_unix_ns", facts.epoch_unix_ns}};
  page["studies"] = Json::array();
  for (const Answer& answer : answers) {
    // A map in rows is for programs; the figure has it.
    const std::size_t most = std::string_view(answer.study->name) == "utilmap" ? 0 : most_rows;
    page["studies"].push_back({{"name", answer.study->name},
                               {"answers", answer.study->answers},
                               {"definitions", answer.study->definitions},
                               {"finding", word(answer.table.finding)},
                               {"failed", answer.is_failed},
                               {"table", json_of(answer.table, most)}});
  }
  page["figures"] = Json::array();
  for (const Figure& figure : figures) page["figures"].push_back(json_of(figure));
  return without_tags(page.dump(-1, ' ', false, Json::error_handler_t::replace));
}

}  // namespace jaxprof::report
