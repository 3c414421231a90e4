#include "merge/runfile/counter_writer.h"

#include <set>
#include <span>
#include <string>

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

Status describe_group(hid_t file, const CounterTable& table, std::uint64_t n_rows) {
  const std::string path = path_of(table);
  const Handle group{H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose};
  const bool is_gpu = table.subject == CounterSubject::kGpu;
  auto status = write_attribute(group.get(), "n_rows", n_rows);
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

CounterChunks::CounterChunks(ChunkPool& pool, const CounterTable& table) {
  for_each_column(table, [&](const auto& spec, const auto&) { columns_.emplace_back(pool, element_of(spec.missing)); });
  for (std::size_t i = 0; i < table.columns.size(); ++i) columns_.emplace_back(pool, element_of(kNoSample));
}

Status CounterChunks::append(const CounterTable& rows) {
  std::vector<std::span<const std::byte>> parts;
  bool is_whole = true;
  const auto add = [&](const auto& values) {
    is_whole = is_whole && values.size() == rows.time_ns.size();
    parts.push_back(std::as_bytes(std::span(values)));
  };
  for_each_column(rows, [&add](const auto&, const auto& values) { add(values); });
  for (const CounterColumn& column : rows.columns) add(column.values);
  if (!is_whole || parts.size() != columns_.size()) {
    return fail(ErrorCode::kOutputFailed, path_of(rows) + ": rows that do not fit its columns");
  }
  for (std::size_t i = 0; i < parts.size(); ++i) columns_[i].append(parts[i]);
  rows_ += rows.time_ns.size();
  return {};
}

void CounterChunks::close() {
  for (ColumnChunks& column : columns_) column.close();
}

Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table, const CounterChunks& rows) {
  const std::string group = path_of(table) + "/";
  const OffsetSpec offset = offset_spec_of(table.subject);
  if (table.offset.back() != rows.rows()) {
    return fail(ErrorCode::kOutputFailed, group + offset.path + ": ends at " + std::to_string(table.offset.back()) +
                                              " of " + std::to_string(rows.rows()) + " rows");
  }
  Status status;
  auto column = rows.columns().begin();
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>&) {
    const ColumnText text{group + spec.name, spec.unit, spec.long_name};
    if (status) status = write_column_dataset(file, text, file_type<T>(file).get(), *column++);
  });
  if (status) {
    status = write_column(file, pool, {group + offset.path, offset.unit, offset.long_name}, kNoSample, table.offset);
  }
  std::set<std::string> taken = taken_names(table);
  const Handle type = memory_type<std::uint64_t>();
  for (const CounterColumn& counter : table.columns) {
    if (!status) return status;
    std::string name = counter_dataset_name(counter.name);
    while (!taken.insert(name).second) name += '~';
    const std::string unit(kCounterUnitWords[static_cast<std::size_t>(counter.unit)]);
    const char* meaning =
        counter.kind == CounterKind::kGauge ? "value times scale, in units" : "count times scale, in units";
    status = write_column_dataset(file, {group + name, unit.c_str(), meaning}, type.get(), *column++).and_then([&] {
      return describe_counter(file, group + name, counter);
    });
  }
  return status ? describe_group(file, table, rows.rows()) : status;
}

Status write_counters(hid_t file, ChunkPool& pool, const CounterTable& table) {
  CounterChunks rows(pool, table);
  auto status = rows.append(table);
  rows.close();
  if (status) status = pool.wait();
  return status ? write_counters(file, pool, table, rows) : status;
}

}  // namespace jaxprof::runfile
