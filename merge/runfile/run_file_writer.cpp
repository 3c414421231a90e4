// The order of writing: word lists, strings, tables, offsets, root attributes, and `complete` as the last thing before
// the file is closed. A column is written whole before the next, so the raw data of one column lies together.
#include "merge/runfile/run_file_writer.h"

#include <algorithm>
#include <thread>

#include "merge/runfile/attributes.h"
#include "merge/runfile/check.h"
#include "merge/runfile/column_writer.h"
#include "merge/runfile/compound_table.h"
#include "merge/runfile/counter_writer.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/output_file.h"
#include "merge/runfile/table_rows.h"
#include "merge/runfile/utf8.h"

namespace jaxprof::runfile {
namespace {

constexpr std::size_t kStringsAtOnce = 65'536;

Status make_group(hid_t file, const char* path) {
  const Handle group{H5Gcreate2(file, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose};
  if (!group) return fail(ErrorCode::kOutputFailed, std::string(path) + ": " + hdf5_cause());
  return {};
}

template <typename T>
Status write_column(hid_t file, ChunkPool& pool, ColumnText text, T missing, const std::vector<T>& values) {
  ColumnWriter<T> column{file, pool, std::move(text), missing};
  return column.append(values).and_then([&column] { return column.finish(); });
}

// Marks the group of a column table, which its first column has made.
template <typename Table>
Status describe_group(hid_t file, const Table& table) {
  const TableSpec spec = spec_of(table);
  const Handle group{H5Gopen2(file, spec.path, H5P_DEFAULT), H5Gclose};
  const std::uint64_t n = n_rows(table);
  auto status = write_attribute(group.get(), spec.rows_attribute, n);
  if (status && std::string_view{spec.rows_attribute} == "n_rows") {
    status = write_text_attribute(group.get(), "sorted_by", spec.sorted_by);
    if (status) status = write_text_attribute(group.get(), "long_name", spec.long_name);
  }
  return std::move(status).map_error([&spec](Error&& error) { return std::move(error).wrap(spec.path); });
}

template <typename Table>
Status write_table(hid_t file, ChunkPool& pool, const Table& table) {
  const TableSpec spec = spec_of(table);
  if (spec.is_compound) return write_compound(file, spec, pack_rows(table, file));
  Status status;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& column, const std::vector<T>& values) {
    if (!status) return;
    const std::string path = std::string(spec.path) + "/" + column.name;
    status = write_column(file, pool, {path, column.unit, column.long_name}, column.missing, values);
  });
  return status ? describe_group(file, table) : status;
}

// Variable-length texts do not go through the chunk writer: their bytes lie in HDF5's own heap, uncompressed.
Status write_strings(hid_t file, const StringTable& strings) {
  const auto failed = [] { return fail(ErrorCode::kOutputFailed, "/strings/value: " + hdf5_cause()); };
  const Handle type = variable_text_type();
  const hsize_t n = strings.size();
  const Handle space{H5Screate_simple(1, &n, nullptr), H5Sclose};
  const Handle links{H5Pcreate(H5P_LINK_CREATE), H5Pclose};
  H5Pset_create_intermediate_group(links.get(), 1);
  const Handle dataset{
      H5Dcreate2(file, "/strings/value", type.get(), space.get(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Dclose};
  if (!dataset) return failed();
  std::vector<std::string> texts;
  std::vector<const char*> pointers;
  for (std::size_t first = 0; first < strings.size(); first += kStringsAtOnce) {
    const hsize_t start = first;
    const hsize_t count = std::min(kStringsAtOnce, strings.size() - first);
    texts.clear();
    pointers.clear();
    for (hsize_t i = 0; i < count; ++i) {
      texts.push_back(valid_utf8(strings.text(static_cast<StringId>(start + i))));
    }
    for (const std::string& text : texts) pointers.push_back(text.c_str());
    const Handle from{H5Screate_simple(1, &count, nullptr), H5Sclose};
    H5Sselect_hyperslab(space.get(), H5S_SELECT_SET, &start, nullptr, &count, nullptr);
    if (H5Dwrite(dataset.get(), type.get(), from.get(), space.get(), H5P_DEFAULT, pointers.data()) < 0) return failed();
  }
  return write_text_attribute(dataset.get(), "units", "text")
      .and_then([&] { return write_text_attribute(dataset.get(), "long_name", "texts by id; 0 is the empty text"); })
      .and_then([&] { return write_text_attribute(dataset.get(), "missing_value", ""); });
}

Status write_root(hid_t file, const RunAttributes& attributes) {
  auto status = write_text_attribute(file, "schema", kSchemaName);
  if (status) status = write_text_attribute(file, "schema_version", kSchemaVersion);
  if (status) status = write_text_attribute(file, "tool_version", JAXPROF_VERSION);
  if (status) status = write_text_attribute(file, "time_unit", "ns");
  for_each_attribute(attributes, [&](const AttributeSpec& spec, const auto& value) {
    if (status) status = write_attribute(file, spec.name, value);
  });
  return status;
}

Status write_all(hid_t file, ChunkPool& pool, const RunTables& run) {
  auto status = commit_enums(file);
  for (const char* group : {"/job", "/clock"}) {  // H5TBmake_table makes no groups
    if (status) status = make_group(file, group);
  }
  if (status) status = write_strings(file, run.strings);
  for_each_table(run, [&](const auto& table) {
    if (status) status = write_table(file, pool, table);
  });
  for_each_offset(run, [&](const OffsetSpec& spec, const auto& offset, std::size_t, std::size_t) {
    if (status) status = write_column(file, pool, {spec.path, spec.unit, spec.long_name}, kNoRow, offset);
  });
  for (const CounterTable& table : run.counters) {
    if (status) status = write_counters(file, pool, table);
  }
  if (status) status = write_root(file, run.attributes);
  if (status && H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) status = fail(ErrorCode::kOutputFailed, hdf5_cause());
  if (status) status = write_attribute(file, "complete", std::uint8_t{1});
  return status;
}

Status write_part(const RunTables& run, const std::string& part, unsigned n_threads) {
  const Handle access = file_access();
  Handle file{H5Fcreate(part.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), H5Fclose};
  if (!file) return fail(ErrorCode::kOutputFailed, hdf5_cause());
  ChunkPool pool{n_threads};
  auto status = write_all(file.get(), pool, run);
  if (!file.close() && status) status = fail(ErrorCode::kOutputFailed, hdf5_cause());
  return status;
}

}  // namespace

Result<WrittenFile> write_run_file(const RunTables& run, const std::string& path, const WriteOptions& options) {
  prepare_hdf5();
  const auto with_path = [&path](Error&& error) { return std::move(error).wrap(path); };
  if (auto checked = check_run(run, Extent::kWhole, table_rows(run)); !checked)
    return tl::unexpected(with_path(std::move(checked.error())));
  auto output = OutputFile::create(path, options.may_replace);
  if (!output) return tl::unexpected(std::move(output.error()));
  const unsigned n_threads = options.n_threads > 0 ? options.n_threads : std::thread::hardware_concurrency();
  if (auto written = write_part(run, output->part_path(), n_threads); !written) {
    return tl::unexpected(with_path(std::move(written.error())));
  }
  return output->publish().map([](std::uint64_t size_bytes) { return WrittenFile{size_bytes}; });
}

Status check_output(const std::string& path, bool may_replace) {
  return OutputFile::create(path, may_replace).map([](const OutputFile&) {});
}

}  // namespace jaxprof::runfile
