// What was opened, and the two ways to read tables in stretches.
#include "merge/runfile/run_file_reader.h"

#include <map>
#include <optional>

#include "merge/runfile/chunk_places.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/opened_file.h"
#include "merge/runfile/table_scan.h"
#include "merge/runfile/table_source.h"
#include "merge/runfile/whole_run.h"

namespace jaxprof::runfile {

struct RunFileReader::State {
  std::string path;
  OpenedFile opened;
  hid_t file() const { return opened.file.get(); }
  TableSource source() const { return {file(), opened.is_older}; }
  std::map<std::string, DatasetReader> datasets;  // that are read in stretches, by path
  std::optional<TableRows> rows;                  // what indices of stretches may point to

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

tl::unexpected<Error> unreadable(std::string message) {
  return fail(ErrorCode::kInputUnreadable, std::move(message));
}

// The dataset at `path`: of `open` if it is there, else opened and put there.
Result<const DatasetReader*> find_dataset(hid_t file, const std::string& path,
                                          std::map<std::string, DatasetReader>& open) {
  if (const auto found = open.find(path); found != open.end()) return &found->second;
  auto opened = DatasetReader::open(file, path);
  if (!opened) return tl::unexpected(std::move(opened.error()));
  return &open.emplace(path, std::move(*opened)).first->second;
}

}  // namespace

RunFileReader::RunFileReader(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFileReader::RunFileReader(RunFileReader&&) noexcept = default;
RunFileReader& RunFileReader::operator=(RunFileReader&&) noexcept = default;
RunFileReader::~RunFileReader() = default;

const RunAttributes& RunFileReader::attributes() const {
  return state_->opened.attributes;
}
const std::string& RunFileReader::tool_version() const {
  return state_->opened.tool_version;
}
const std::string& RunFileReader::schema_version() const {
  return state_->opened.schema_version;
}

Result<RunFileReader> RunFileReader::open(const std::string& path) {
  prepare_hdf5();
  auto opened = open_run_file(path);
  if (!opened) return tl::unexpected(std::move(opened.error()).wrap(path));
  auto state = std::make_unique<State>();
  state->path = path;
  state->opened = std::move(*opened);
  return RunFileReader{std::move(state)};
}

Result<RunTables> RunFileReader::read(const IsWanted& is_wanted) const {
  prepare_hdf5();
  RunTables run;
  run.attributes = state_->opened.attributes;
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
  const auto strings = DatasetReader::open(file(), "/strings/value");
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
    status = find_dataset(file(), name, datasets).and_then([&](const DatasetReader* dataset) {
      return read_values(*dataset, name, values, first, count, column.missing);
    });
    if (status) status = check_indices(column, name, std::span<const T>(values), first, *limits);
  });
  return status;
}

// Where the chunks of one column lie; nothing where only HDF5 can read it.
template <typename T>
Result<std::optional<ChunkPlaces>> RunFileReader::State::find_column(const std::string& name, std::uint64_t n_rows) {
  const auto dataset = find_dataset(file(), name, datasets);
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
  if (*columns && H5Fget_vfd_handle(file(), H5P_DEFAULT, &fd) >= 0) {
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
