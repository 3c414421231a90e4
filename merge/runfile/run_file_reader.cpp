// Opening asks in the order in which a person would want the answer: is it there, is it HDF5, is it ours, is it of our
// time, is it finished. Reading checks rank, type and length of each dataset and, at the end, all references.
#include "merge/runfile/run_file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <charconv>
#include <map>
#include <optional>

#include "agent/base/unique_fd.h"
#include "merge/runfile/attributes.h"
#include "merge/runfile/check.h"
#include "merge/runfile/chunk_places.h"
#include "merge/runfile/compound_table.h"
#include "merge/runfile/counter_reader.h"
#include "merge/runfile/dataset_reader.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/table_rows.h"
#include "merge/runfile/table_scan.h"

namespace jaxprof::runfile {

namespace {

// What tables are read from. A file of an older minor version may lack what came later.
struct Source {
  hid_t file;
  bool is_older;
  bool lacks(const std::string& path) const { return is_older && !has_dataset(file, path); }
};

}  // namespace

struct RunFileReader::State {
  std::string path;
  Handle file;
  bool is_older = false;  // by a minor version than this program
  Source source() const { return {file.get(), is_older}; }
  std::map<std::string, DatasetReader> datasets;  // that are read in stretches, by path
  std::optional<TableRows> rows;                  // what indices of stretches may point to
  RunAttributes attributes;
  std::string tool_version;
  std::string schema_version;

  Result<TableRows> measured();
  template <typename Table>
  Status read_rows(Table& table, std::uint64_t first, std::uint64_t count, const IsWanted& is_wanted);
  template <typename T>
  Result<std::optional<ChunkPlaces>> find_column(const std::string& name, std::uint64_t n_rows);
  template <typename Table>
  Result<std::optional<std::vector<ScannedColumn>>> find_columns(std::uint64_t n_rows, const IsWanted& is_wanted);
  template <typename Table>
  Status scan_rows(const IsWanted& is_wanted, unsigned n_threads, const typename TableScan<Table>::Take& take);
};

namespace {

constexpr std::uint64_t kStringsAtOnce = 65'536;

tl::unexpected<Error> unreadable(std::string message) {
  return fail(ErrorCode::kInputUnreadable, std::move(message));
}

Status check_is_file(const std::string& path) {
  const UniqueFd fd{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
  if (!fd) return fail_errno(ErrorCode::kInputUnreadable, "cannot be opened");
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) return fail_errno(ErrorCode::kInputUnreadable, "cannot be opened");
  if (!S_ISREG(found.st_mode)) return unreadable("is not a regular file");
  if (found.st_size == 0) return unreadable("is empty");
  return {};
}

Result<Handle> open_hdf5(const std::string& path) {
  if (auto there = check_is_file(path); !there) return tl::unexpected(std::move(there.error()));
  if (H5Fis_hdf5(path.c_str()) <= 0) return unreadable("is not a run file (not HDF5)");
  const Handle access = file_access();
  Handle file{H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose};
  if (!file) return unreadable("is damaged or cut short: " + hdf5_cause());
  return file;
}

Status check_schema(hid_t file, std::string& schema_version) {
  const auto schema = read_text_attribute(file, "schema");
  if (!schema) return unreadable("is HDF5 but not a run file: " + schema.error().message);
  const auto refuse = [&schema] {
    return unreadable("is of another schema: \"" + *schema + "\" instead of \"" + std::string(kSchemaName) + "\"");
  };
  constexpr std::string_view kFamily = kSchemaName.substr(0, kSchemaName.find('/') + 1);
  if (!std::string_view{*schema}.starts_with(kFamily)) return refuse();
  if (auto read = read_attribute(file, "schema_version", schema_version); !read) return read;
  unsigned major = 0;
  const auto [end, error] =
      std::from_chars(schema_version.data(), schema_version.data() + schema_version.size(), major);
  if (error != std::errc{} || *end != '.') return unreadable("has the schema version \"" + schema_version + "\"");
  if (major != 1) {
    return unreadable("has schema version " + schema_version +
                      ", this program reads 1.x; take the jaxprof that wrote it");
  }
  if (*schema != kSchemaName) return refuse();
  return {};
}

// The minor version of "1.MINOR.PATCH"; 0 if it cannot be read.
unsigned minor_of(std::string_view schema_version) {
  const std::string_view rest = schema_version.substr(std::min(schema_version.find('.') + 1, schema_version.size()));
  unsigned minor = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), minor);
  return minor;
}

Status check_complete(hid_t file) {
  std::uint8_t complete = 0;
  if (read_attribute(file, "complete", complete) && complete == 1) return {};
  return unreadable("is not complete: the merge that wrote it did not finish; merge again");
}

Status read_attributes(const Source& source, RunAttributes& attributes) {
  Status status;
  for_each_attribute(attributes, [&](const AttributeSpec& spec, auto& value) {
    const bool is_lacking = source.is_older && H5Aexists(source.file, spec.name) <= 0;
    if (status && !is_lacking) status = read_attribute(source.file, spec.name, value);
  });
  return status;
}

// The dataset at `path`: of `open` if it is there, else opened and put there.
Result<const DatasetReader*> find_dataset(hid_t file, const std::string& path,
                                          std::map<std::string, DatasetReader>& open) {
  if (const auto found = open.find(path); found != open.end()) return &found->second;
  auto opened = DatasetReader::open(file, path);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return &open.emplace(path, std::move(*opened)).first->second;
}

template <typename T>
Status read_values(const DatasetReader& source, const std::string& path, std::vector<T>& values, std::uint64_t first,
                   std::uint64_t count, T missing) {
  const Handle type = memory_type<T>();
  if (auto same = source.check(type.get()); !same) return same;
  if (count == kNoRow) count = source.rows();
  if (count > source.rows()) return unreadable("dataset " + path + " has " + std::to_string(source.rows()) + " rows");
  values.assign(count, missing);
  return source.read(first, count, type.get(), values.data());
}

// All of a column.
template <typename T>
Status read_column(hid_t file, const std::string& path, std::vector<T>& values, T missing) {
  const auto source = DatasetReader::open(file, path);
  if (!source) return tl::unexpected(source.error());
  return read_values(*source, path, values, 0, kNoRow, missing);
}

// The rows of a table of columns, measured on its first column; 0 for a table that an older file lacks.
template <typename Table>
Result<std::uint64_t> measure_rows(const Source& source, const Table& table) {
  const TableSpec spec = spec_of(table);
  const std::string path =
      spec.is_compound ? std::string(spec.path) : std::string(spec.path) + "/" + first_column_name(table);
  if (source.lacks(path)) return 0;
  const auto dataset = DatasetReader::open(source.file, path);
  if (!dataset) return tl::unexpected(dataset.error());
  return dataset->rows();
}

// All rows of the wanted columns.
template <typename Table>
Status read_table(const Source& source, Table& table, const IsWanted& is_wanted) {
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
      status = read_column(source.file, path, values, column.missing);
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

// The rows of every table, measured on its first column, whether it was read or not.
Result<TableRows> measure_tables(const Source& source, std::uint64_t n_strings) {
  const RunTables run;
  TableRows rows;
  Status status;
  for_each_table(run, [&](const auto& table) {
    const TableSpec spec = spec_of(table);
    if (!status || std::string_view{spec.rows_attribute} != "n_rows") return;
    if (const auto counted = measure_rows(source, table); counted) {
      rows[spec.path] = *counted;
    } else {
      status = tl::unexpected(counted.error());
    }
  });
  rows["/strings/value"] = n_strings;
  if (!status) return tl::unexpected(std::move(status.error()));
  return rows;
}

Status read_run(const Source& source, RunTables& run, const IsWanted& is_wanted) {
  auto status = read_strings(source.file, run.strings);
  for_each_table(run, [&](auto& table) {
    if (status) status = read_table(source, table, is_wanted);
  });
  for_each_offset(run, [&](const OffsetSpec& spec, auto& offset, std::size_t, std::size_t) {
    if (!status || !is_wanted(spec.path) || source.lacks(spec.path)) return;
    status = read_column(source.file, spec.path, offset, kNoRow);
    if (status && offset.empty()) status = unreadable(std::string(spec.path) + " is empty");
  });
  if (!status) return status;
  auto counters = read_counters(source.file, is_wanted);
  if (!counters) return tl::unexpected(std::move(counters.error()));
  run.counters = std::move(*counters);
  if (source.is_older) fill_empty_offsets(run);
  return measure_tables(source, run.strings.size()).and_then([&run](const TableRows& rows) {
    return check_run(run, Extent::kPartly, rows);
  });
}

}  // namespace

RunFileReader::RunFileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFileReader::RunFileReader(RunFileReader&&) noexcept = default;
RunFileReader& RunFileReader::operator=(RunFileReader&&) noexcept = default;
RunFileReader::~RunFileReader() = default;

const RunAttributes& RunFileReader::attributes() const {
  return state_->attributes;
}
const std::string& RunFileReader::tool_version() const {
  return state_->tool_version;
}
const std::string& RunFileReader::schema_version() const {
  return state_->schema_version;
}

Result<RunFileReader> RunFileReader::open(const std::string& path) {
  prepare_hdf5();
  auto state = std::make_unique<State>();
  state->path = path;
  auto status = open_hdf5(path).map([&state](Handle&& file) { state->file = std::move(file); });
  const auto then = [&status](auto&& step) {
    if (status) status = step();
  };
  then([&] { return check_schema(state->file.get(), state->schema_version); });
  state->is_older = minor_of(state->schema_version) < minor_of(kSchemaVersion);
  then([&] { return check_complete(state->file.get()); });
  then([&] { return read_attribute(state->file.get(), "tool_version", state->tool_version); });
  then([&] { return read_attributes(state->source(), state->attributes); });
  if (!status) return tl::unexpected(std::move(status.error()).wrap(path));
  return RunFileReader{std::move(state)};
}

Result<RunTables> RunFileReader::read(const IsWanted& is_wanted) const {
  prepare_hdf5();
  RunTables run;
  run.attributes = state_->attributes;
  if (auto status = read_run(state_->source(), run, is_wanted); !status) {
    return tl::unexpected(std::move(status.error()).wrap(state_->path));
  }
  return run;
}

Result<RunTables> RunFileReader::read_all() const {
  return read([](std::string_view) { return true; });
}

Result<TableRows> RunFileReader::State::measured() {
  if (rows) return *rows;
  const auto strings = DatasetReader::open(file.get(), "/strings/value");
  if (!strings) return tl::unexpected(strings.error());
  return measure_tables(source(), strings->rows()).map([this](TableRows&& measured) {
    rows = measured;
    return std::move(measured);
  });
}

template <typename Table>
Status RunFileReader::State::read_rows(Table& table, std::uint64_t first, std::uint64_t count,
                                       const IsWanted& is_wanted) {
  const auto limits = measured();
  if (!limits) return tl::unexpected(limits.error());
  const TableSpec spec = spec_of(table);
  Status status;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& column, std::vector<T>& values) {
    const std::string name = std::string(spec.path) + "/" + column.name;
    if (!status || !is_wanted(name)) return;
    if (source().lacks(name)) {
      const auto n = measure_rows(source(), table);
      if (!n) status = tl::unexpected(n.error());
      if (n) values.assign(std::min(count, *n - std::min(first, *n)), column.missing);
      return;
    }
    status = find_dataset(file.get(), name, datasets).and_then([&](const DatasetReader* dataset) {
      return read_values(*dataset, name, values, first, count, column.missing);
    });
    if (status) status = check_indices(column, name, std::span<const T>(values), first, *limits);
  });
  return status;
}

// Where the chunks of one column lie; nothing where only HDF5 can read it.
template <typename T>
Result<std::optional<ChunkPlaces>> RunFileReader::State::find_column(const std::string& name, std::uint64_t n_rows) {
  const auto dataset = find_dataset(file.get(), name, datasets);
  if (!dataset) return tl::unexpected(dataset.error());
  if ((*dataset)->rows() != n_rows) {
    return unreadable(name + ": " + std::to_string((*dataset)->rows()) + " rows where its table has " +
                      std::to_string(n_rows));
  }
  const Handle type = memory_type<T>();
  if (auto same = (*dataset)->check(type.get()); !same) return tl::unexpected(std::move(same.error()));
  return find_chunks(**dataset, type.get());
}

// The same of all wanted columns.
template <typename Table>
Result<std::optional<std::vector<ScannedColumn>>> RunFileReader::State::find_columns(std::uint64_t n_rows,
                                                                                     const IsWanted& is_wanted) {
  std::vector<ScannedColumn> columns;
  bool is_plain = true;
  Status status;
  const Table table;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>&) {
    const std::string name = std::string(spec_of(table).path) + "/" + spec.name;
    ScannedColumn& column = columns.emplace_back(ScannedColumn{name, is_wanted(name), std::nullopt});
    if (!status || !column.is_wanted || source().lacks(name)) return;
    status = find_column<T>(name, n_rows).map([&](std::optional<ChunkPlaces>&& places) {
      is_plain = is_plain && places.has_value();
      column.places = std::move(places);
    });
  });
  if (!status) return tl::unexpected(std::move(status.error()));
  if (!is_plain) return std::nullopt;
  return columns;
}

template <typename Table>
Status RunFileReader::State::scan_rows(const IsWanted& is_wanted, unsigned n_threads,
                                       const typename TableScan<Table>::Take& take) {
  const auto limits = measured();
  if (!limits) return tl::unexpected(limits.error());
  const auto n_rows = measure_rows(source(), Table{});
  if (!n_rows) return tl::unexpected(n_rows.error());
  const auto columns = find_columns<Table>(*n_rows, is_wanted);
  if (!columns) return tl::unexpected(columns.error());
  void* fd = nullptr;
  if (*columns && H5Fget_vfd_handle(file.get(), H5P_DEFAULT, &fd) >= 0) {
    return TableScan<Table>(*static_cast<const int*>(fd), **columns, *n_rows, *limits).run(n_threads, take);
  }
  Table stretch;
  for (std::uint64_t first = 0; first < *n_rows; first += kChunkRows) {
    const auto read = read_rows(stretch, first, std::min<std::uint64_t>(kChunkRows, *n_rows - first), is_wanted);
    if (!read) return read;
    take(stretch, first);
  }
  return {};
}

template <typename Table>
Result<std::uint64_t> RunFileReader::count_rows() const {
  prepare_hdf5();
  return measure_rows(state_->source(), Table{}).map_error([this](Error&& error) {
    return std::move(error).wrap(state_->path);
  });
}

template <typename Table>
Status RunFileReader::read_rows(Table& table, std::uint64_t first, std::uint64_t count,
                                const IsWanted& is_wanted) const {
  prepare_hdf5();
  return state_->read_rows(table, first, count, is_wanted).map_error([this](Error&& error) {
    return std::move(error).wrap(state_->path);
  });
}

template <typename Table>
Status RunFileReader::scan_rows(const IsWanted& is_wanted, unsigned n_threads,
                                const std::function<void(const Table& rows, std::uint64_t first)>& take) const {
  prepare_hdf5();
  return state_->scan_rows<Table>(is_wanted, n_threads, take).map_error([this](Error&& error) {
    return std::move(error).wrap(state_->path);
  });
}

template Result<std::uint64_t> RunFileReader::count_rows<NvtxTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<NcclTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<KernelTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<MemopTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<ApiTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<OverheadTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<GraphTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<SyncTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<CudaEventTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<NcclWorkTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<StepTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<CollectiveTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<CollectiveMemberTable>() const;
template Result<std::uint64_t> RunFileReader::count_rows<TransferTable>() const;

template Status RunFileReader::read_rows(NvtxTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(NcclTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(KernelTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(MemopTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(ApiTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(OverheadTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(GraphTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(SyncTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(CudaEventTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(NcclWorkTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(StepTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(CollectiveTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(CollectiveMemberTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;
template Status RunFileReader::read_rows(TransferTable&, std::uint64_t, std::uint64_t, const IsWanted&) const;

template <typename Table>
using Take = std::function<void(const Table& rows, std::uint64_t first)>;

template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<NvtxTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<NcclTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<KernelTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<MemopTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<ApiTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<GraphTable>&) const;
template Status RunFileReader::scan_rows(const IsWanted&, unsigned, const Take<CollectiveTable>&) const;

}  // namespace jaxprof::runfile
