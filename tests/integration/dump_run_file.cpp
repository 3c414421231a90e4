// dump_run_file RUN_H5: what merge/runfile's own reader says of a run file, in a plain form that other readers can be
// compared with (reader_agreement.py). One JSON object a line, each with one attribute of the root, one table, or one
// column with all of its values. Words are text and null where missing, string ids are numbers, NaN is null.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <type_traits>

#include "merge/runfile/run_file_reader.h"
#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {
namespace {

using Json = nlohmann::ordered_json;

void print(const Json& line) {
  std::puts(line.dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
}

template <typename T>
Json json_of(const T& value) {
  if constexpr (FileEnum<T>) {
    return value == T::kMissing ? Json() : Json(word(value));
  } else if constexpr (std::is_same_v<T, StringId>) {
    return static_cast<std::uint32_t>(value);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return value;
  } else {
    return value.view();
  }
}

template <typename T>
Json values_of(const std::vector<T>& column) {
  Json values = Json::array();
  for (const T& value : column) values.push_back(json_of(value));
  return values;
}

// A table of members lies in the group of another table, of which `sorted_by` and `long_name` are.
void print_table(const TableSpec& spec, std::size_t rows) {
  Json line = {{"table", spec.path}, {spec.rows_attribute, rows}};
  if (std::string_view{spec.rows_attribute} == "n_rows") {
    line["sorted_by"] = spec.sorted_by;
    line["long_name"] = spec.long_name;
  }
  print(line);
}

template <typename Table>
void print_columns(const std::string& path, const Table& table) {
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>& column) {
    print({{"column", path + "/" + spec.name},
           {"units", spec.unit},
           {"long_name", spec.long_name},
           {"missing_value", json_of(spec.missing)},
           {"values", values_of(column)}});
  });
}

void print_offset(const std::string& path, const OffsetSpec& spec, const std::vector<std::uint64_t>& offset) {
  print({{"column", path},
         {"units", spec.unit},
         {"long_name", spec.long_name},
         {"missing_value", kNoRow},
         {"values", values_of(offset)}});
}

void print_counters(const CounterTable& table) {
  const std::string path = path_of(table);
  const std::string part = table.subject == CounterSubject::kGpu ? "device" : "nic";
  const std::string sorted_by = part + ", time_ns";
  print_table({path.c_str(), false, sorted_by.c_str(), "n_rows", long_name_of(table.subject)}, table.time_ns.size());
  print_columns(path, table);
  const OffsetSpec offset = offset_spec_of(table.subject);
  print_offset(path + "/" + offset.path, offset, table.offset);
  for (const CounterColumn& column : table.columns) {
    print({{"column", path + "/" + column.name},
           {"units", kCounterUnitWords[static_cast<std::size_t>(column.unit)]},
           {"missing_value", kNoSample},
           {"name", column.name},
           {"scale", column.scale},
           {"kind", kCounterKindWords[static_cast<std::size_t>(column.kind)]},
           {"bits", column.bits},
           {"is_error", static_cast<int>(column.is_error)},
           {"values", values_of(column.values)}});
  }
}

int dump(const char* path) {
  const auto reader = RunFileReader::open(path);
  const auto run = reader.and_then([](const RunFileReader& opened) { return opened.read_all(); });
  if (!run) {
    std::fprintf(stderr, "dump_run_file: %s\n", run.error().message.c_str());
    return 3;
  }
  print({{"attribute", "schema_version"}, {"value", reader->schema_version()}});
  print({{"attribute", "tool_version"}, {"value", reader->tool_version()}});
  for_each_attribute(run->attributes, [](const AttributeSpec& spec, const auto& value) {
    print({{"attribute", spec.name}, {"value", value}});
  });
  Json texts = Json::array();
  for (std::uint32_t id = 0; id < run->strings.size(); ++id) texts.push_back(run->strings.text(StringId{id}));
  print({{"column", "/strings/value"}, {"values", std::move(texts)}});
  for_each_table(*run, [](const auto& table) {
    print_table(spec_of(table), n_rows(table));
    print_columns(spec_of(table).path, table);
  });
  for_each_offset(*run, [](const OffsetSpec& spec, const auto& offset, std::size_t, std::size_t) {
    print_offset(spec.path, spec, offset);
  });
  for (const CounterTable& table : run->counters) print_counters(table);
  return 0;
}

}  // namespace
}  // namespace jaxprof::runfile

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  return jaxprof::runfile::dump(argv[1]);
}
