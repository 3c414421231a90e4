#include "merge/runfile/counter_writer.h"

#include <set>

#include "merge/runfile/attributes.h"
#include "merge/runfile/column_dataset.h"
#include "merge/runfile/counter_schema.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

// What a reader needs to make a rate of raw values.
Status describe_counter(hid_t file, const std::string& path, const CounterColumn& column) {
  const Handle dataset{H5Dopen2(file, path.c_str(), H5P_DEFAULT), H5Dclose};
  if (!dataset) return fail(ErrorCode::kOutputFailed, path + ": " + hdf5_cause());
  auto status = write_text_attribute(dataset.get(), "name", column.name);
  if (status) status = write_attribute(dataset.get(), "scale", column.scale);
  if (status) {
    status = write_text_attribute(dataset.get(), "kind", kCounterKindWords[static_cast<std::size_t>(column.kind)]);
  }
  if (status) status = write_attribute(dataset.get(), "bits", column.bits);
  if (status) status = write_attribute(dataset.get(), "is_error", std::uint8_t{column.is_error});
  return std::move(status).map_error([&path](Error&& error) { return std::move(error).wrap(path); });
}

Status describe_group(hid_t file, const CounterTable& table) {
  const std::string path = path_of(table);
  const Handle group{H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose};
  const bool is_gpu = table.subject == CounterSubject::kGpu;
  auto status = write_attribute(group.get(), "n_rows", std::uint64_t{table.time_ns.size()});
  if (status) status = write_text_attribute(group.get(), "sorted_by", is_gpu ? "device, time_ns" : "nic, time_ns");
  if (status) status = write_text_attribute(group.get(), "long_name", long_name_of(table.subject));
  return std::move(status).map_error([&path](Error&& error) { return std::move(error).wrap(path); });
}

// Names that other datasets of the group have.
std::set<std::string> taken_names(const CounterTable& table) {
  std::set<std::string> names = {offset_spec_of(table.subject).path};
  for_each_column(table, [&names](const auto& spec, const auto&) { names.insert(spec.name); });
  return names;
}

}  // namespace

std::string counter_dataset_name(std::string_view name) {
  std::string safe(name);
  for (char& c : safe) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '/' || byte <= 0x20 || byte >= 0x7F) c = '_';
  }
  return safe.empty() || safe == "." ? "_" : safe;
}

Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table) {
  const std::string group = path_of(table) + "/";
  Status status;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>& values) {
    if (status) status = write_column(file, pool, {group + spec.name, spec.unit, spec.long_name}, spec.missing, values);
  });
  const OffsetSpec offset = offset_spec_of(table.subject);
  if (status) {
    status = write_column(file, pool, {group + offset.path, offset.unit, offset.long_name}, kNoSample, table.offset);
  }
  std::set<std::string> taken = taken_names(table);
  for (const CounterColumn& column : table.columns) {
    if (!status) return status;
    std::string name = counter_dataset_name(column.name);
    while (!taken.insert(name).second) name += '~';
    const std::string unit(kCounterUnitWords[static_cast<std::size_t>(column.unit)]);
    const char* meaning =
        column.kind == CounterKind::kGauge ? "value times scale, in units" : "count times scale, in units";
    status = write_column(file, pool, {group + name, unit.c_str(), meaning}, kNoSample, column.values).and_then([&] {
      return describe_counter(file, group + name, column);
    });
  }
  return status ? describe_group(file, table) : status;
}

}  // namespace jaxprof::runfile
