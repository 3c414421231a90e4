#include "merge/runfile/counter_reader.h"

#include <algorithm>
#include <string>

#include "merge/runfile/attributes.h"
#include "merge/runfile/counter_schema.h"
#include "merge/runfile/dataset_reader.h"
#include "merge/runfile/hdf5_types.h"

namespace jaxprof::runfile {
namespace {

constexpr std::uint8_t kMaxBits = 64;

// Names of what lies in a group, sorted; empty if there is no such group.
std::vector<std::string> list_group(hid_t file, const std::string& path) {
  std::vector<std::string> names;
  if (!has_dataset(file, path)) return names;
  const Handle group{H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose};
  if (!group) return names;
  const auto add = [](hid_t, const char* name, const H5L_info_t*, void* to) -> herr_t {
    static_cast<std::vector<std::string>*>(to)->emplace_back(name);
    return 0;
  };
  H5Literate(group.get(), H5_INDEX_NAME, H5_ITER_INC, nullptr, add, &names);
  std::sort(names.begin(), names.end());
  return names;
}

template <typename T>
Status read_values(hid_t file, const std::string& path, std::vector<T>& values) {
  const auto source = DatasetReader::open(file, path);
  if (!source) return tl::unexpected(source.error());
  const Handle type = memory_type<T>();
  if (auto same = source->check(type.get()); !same) return same;
  values.resize(source->rows());
  return source->read(0, source->rows(), type.get(), values.data());
}

template <typename E, std::size_t N>
E from_word_or(const std::array<std::string_view, N>& words, const std::string& text, E otherwise) {
  const auto found = std::find(words.begin(), words.end(), text);
  return found == words.end() ? otherwise : static_cast<E>(found - words.begin());
}

// Is it a dataset with the marks of a counter?
bool is_counter(hid_t file, const std::string& path) {
  const Handle object{H5Oopen(file, path.c_str(), H5P_DEFAULT), H5Oclose};
  return object && H5Iget_type(object.get()) == H5I_DATASET && H5Aexists(object.get(), "kind") > 0;
}

Result<CounterColumn> read_column(hid_t file, const std::string& path) {
  CounterColumn column;
  const Handle dataset{H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose};
  std::string unit;
  std::string kind;
  std::uint8_t is_error = 0;
  auto status = read_attribute(dataset.get(), "name", column.name);
  if (status) status = read_attribute(dataset.get(), "scale", column.scale);
  if (status) status = read_attribute(dataset.get(), "kind", kind);
  if (status) status = read_attribute(dataset.get(), "units", unit);
  if (status) status = read_attribute(dataset.get(), "bits", column.bits);
  if (status) status = read_attribute(dataset.get(), "is_error", is_error);
  if (status && (column.bits == 0 || column.bits > kMaxBits)) {
    status = fail(ErrorCode::kInputUnreadable, "has a width of " + std::to_string(column.bits) + " bits");
  }
  if (!status) return tl::unexpected(std::move(status.error()).wrap(path));
  column.unit = from_word_or(kCounterUnitWords, unit, CounterUnit::kOne);
  column.kind = from_word_or(kCounterKindWords, kind, CounterKind::kUnknown);
  column.is_error = is_error != 0;
  if (auto read = read_values(file, path, column.values); !read) return tl::unexpected(std::move(read.error()));
  return column;
}

Status read_group(hid_t file, const IsWanted& is_wanted, CounterTable* table) {
  const std::string group = path_of(*table) + "/";
  Status status;
  for_each_column(*table, [&](const auto& spec, auto& values) {
    if (status && is_wanted(group + spec.name)) status = read_values(file, group + spec.name, values);
  });
  const std::string offset = group + offset_spec_of(table->subject).path;
  if (status && is_wanted(offset)) status = read_values(file, offset, table->offset);
  if (status && table->offset.empty()) status = fail(ErrorCode::kInputUnreadable, offset + " is empty");
  for (const std::string& name : list_group(file, group.substr(0, group.size() - 1))) {
    if (!status) return status;
    if (!is_wanted(group + name) || !is_counter(file, group + name)) continue;
    auto column = read_column(file, group + name);
    if (!column) return tl::unexpected(std::move(column.error()));
    table->columns.push_back(std::move(*column));
  }
  std::sort(table->columns.begin(), table->columns.end(),
            [](const CounterColumn& a, const CounterColumn& b) { return a.name < b.name; });
  return status;
}

}  // namespace

Result<std::vector<CounterTable>> read_counters(hid_t file, const IsWanted& is_wanted) {
  std::vector<CounterTable> tables;
  for (const std::string& driver : list_group(file, kNicCounters)) {
    tables.emplace_back();
    tables.back().driver = driver;
  }
  if (has_dataset(file, kGpuCounters)) {
    tables.emplace_back();
    tables.back().subject = CounterSubject::kGpu;
  }
  for (CounterTable& table : tables) {
    if (auto read = read_group(file, is_wanted, &table); !read) return tl::unexpected(std::move(read.error()));
  }
  std::erase_if(tables, [](const CounterTable& table) {
    return table.time_ns.empty() && table.columns.empty() && table.offset.size() <= 1;
  });
  return tables;
}

}  // namespace jaxprof::runfile
