// HDF5 opens and checks; columns whose chunks anybody can read are left to ColumnLoads.
#include "merge/runfile/whole_run.h"

#include <algorithm>
#include <span>
#include <thread>
#include <utility>

#include "merge/runfile/chunk_places.h"
#include "merge/runfile/column_loads.h"
#include "merge/runfile/compound_table.h"
#include "merge/runfile/counter_reader.h"
#include "merge/runfile/hdf5_session.h"

namespace jaxprof::runfile {
namespace {

constexpr std::uint64_t kStringsAtOnce = 65'536;

tl::unexpected<Error> unreadable(std::string message) {
  return fail(ErrorCode::kInputUnreadable, std::move(message));
}

// All of a column, now or, into `values` as they are then, by `loads`.
template <typename T>
Status read_column(hid_t file, const std::string& path, std::vector<T>& values, T missing, ColumnLoads& loads) {
  const auto source = DatasetReader::open(file, path);
  if (!source) return tl::unexpected(source.error());
  const Handle type = memory_type<T>();
  if (auto same = source->check(type.get()); !same) return same;
  auto places = find_chunks(*source, type.get());
  if (!places) return tl::unexpected(std::move(places.error()));
  if (!places->has_value()) return read_values(*source, path, values, 0, kNoRow, missing);
  values.assign(source->rows(), missing);
  loads.add(path, std::move(**places), std::as_writable_bytes(std::span(values)));
  return {};
}

// What HDF5 reads `file` through; it was opened so (hdf5_session).
int descriptor_of(hid_t file) {
  void* descriptor = nullptr;
  return H5Fget_vfd_handle(file, H5P_DEFAULT, &descriptor) >= 0 ? *static_cast<const int*>(descriptor) : -1;
}

// All rows of the wanted columns.
template <typename Table>
Status read_table(const TableSource& source, Table& table, const IsWanted& is_wanted, ColumnLoads& loads) {
  const TableSpec spec = spec_of(table);
  if (spec.is_compound) {
    if (!is_wanted(spec.path) || source.lacks(spec.path)) return {};
    CompoundRows rows = describe_rows(table, H5I_INVALID_HID);
    return read_compound(source.file, spec, source.is_older, rows).map([&] { unpack_rows(rows, table); });
  }
  Status status;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& column, std::vector<T>& values) {
    const std::string path = std::string(spec.path) + "/" + column.name;
    if (!status || !is_wanted(path)) return;
    if (!source.lacks(path)) {
      status = read_column(source.file, path, values, column.missing, loads);
    } else if (const auto rows = measure_rows(source, table); rows) {
      values.assign(*rows, column.missing);
    } else {
      status = tl::unexpected(rows.error());
    }
  });
  return status;
}

Status read_strings(hid_t file, StringTable& strings) {
  const auto source = DatasetReader::open(file, "/strings/value");
  if (!source) return tl::unexpected(source.error());
  const Handle type = variable_text_type();
  if (auto same = source->check(type.get()); !same) return same;
  std::vector<char*> pointers;
  strings = StringTable::without_texts();
  for (std::uint64_t first = 0; first < source->rows(); first += kStringsAtOnce) {
    const std::uint64_t count = std::min(kStringsAtOnce, source->rows() - first);
    pointers.assign(count, nullptr);
    if (auto read = source->read(first, count, type.get(), pointers.data()); !read) return read;
    for (const char* text : pointers) strings.append(text == nullptr ? "" : text);
    source->reclaim(count, type.get(), pointers.data());
  }
  return strings.size() > 0 ? Status{} : unreadable("/strings/value is empty");
}

}  // namespace

Status read_run(const TableSource& source, RunTables& run, const IsWanted& is_wanted) {
  ColumnLoads loads;
  auto status = read_strings(source.file, run.strings);
  for_each_table(run, [&](auto& table) {
    if (status) status = read_table(source, table, is_wanted, loads);
  });
  for_each_offset(run, [&](const OffsetSpec& spec, auto& offset, std::size_t, std::size_t) {
    if (!status || !is_wanted(spec.path) || source.lacks(spec.path)) return;
    status = read_column(source.file, spec.path, offset, kNoRow, loads);
    if (status && offset.empty()) status = unreadable(std::string(spec.path) + " is empty");
  });
  if (status) status = loads.run(descriptor_of(source.file), std::max(1U, std::thread::hardware_concurrency()));
  if (!status) return status;
  auto counters = read_counters(source.file, is_wanted);
  if (!counters) return tl::unexpected(std::move(counters.error()));
  run.counters = std::move(*counters);
  if (source.is_older) fill_empty_offsets(run);
  return measure_tables(source, run.strings.size()).and_then([&run](const TableRows& rows) {
    return check_run(run, Extent::kPartly, rows);
  });
}

}  // namespace jaxprof::runfile
