// The schema says what a column is: a text, a word, a number in a unit. Rows are written a stretch at a time.
#include "merge/export/csv_tables.h"

#include <fmt/format.h>

#include <array>
#include <functional>
#include <type_traits>
#include <vector>

#include "agent/base/atomic_file.h"
#include "merge/export/byte_file.h"
#include "merge/export/csv_field.h"
#include "merge/export/row_runs.h"
#include "merge/runfile/schema.h"

namespace jaxprof::exporting {
namespace {

using namespace runfile;

// "start_ns", "count_elements": the unit ends the name, once; numbers of rows and words have none.
std::string header_of(std::string_view name, std::string_view unit) {
  constexpr std::array<std::string_view, 5> kNone = {"1", "word", "flag", "bits", "text"};
  const bool is_reference = unit.starts_with("index of ") || unit.starts_with("row of ");
  if (is_reference || std::find(kNone.begin(), kNone.end(), unit) != kNone.end()) return std::string(name);
  return name.ends_with(unit) ? std::string(name) : fmt::format("{}_{}", name, unit);
}

// Of which process rows are that lie by process; asked in order.
class ProcessOfRow {
 public:
  ProcessOfRow(const RunTables& run, const std::vector<std::uint64_t>* offset) : run_(run), offset_(offset) {}

  bool is_known() const { return offset_ != nullptr; }
  void append(std::uint64_t row, std::string& to) {
    if (!is_known()) return;
    while (process_ + 2 < offset_->size() && row >= (*offset_)[process_ + 1]) ++process_;
    append_number(process_, to);
    to += ',';
    if (run_.processes.rank[process_] != kNoNumber) append_number(run_.processes.rank[process_], to);
    to += ',';
  }

 private:
  const RunTables& run_;
  const std::vector<std::uint64_t>* offset_;
  std::size_t process_ = 0;
};

template <typename T>
void append_value(const ColumnSpec<T>& spec, T value, const StringTable& strings, std::string& to) {
  if constexpr (std::is_same_v<T, StringId>) {
    append_text(valid_utf8(strings.text(value)), to);
  } else if constexpr (std::is_enum_v<T>) {
    if (static_cast<std::size_t>(value) < EnumWords<T>::words.size()) to += word(value);  // else missing, or newer
  } else if constexpr (std::is_floating_point_v<T>) {
    if (value == value) append_number(value, to);
  } else {
    const bool is_never_missing = std::string_view(spec.unit) == "bits" && spec.missing == 0;
    if (is_never_missing || value != spec.missing) append_number(value, to);
  }
}

using AppendCell = std::function<void(std::size_t row, std::string& to)>;

// One a column, of a table whose rows may be read anew, into the same vectors.
template <typename Table>
std::vector<AppendCell> cells_of(Table& table, const StringTable& strings) {
  std::vector<AppendCell> cells;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, std::vector<T>& values) {
    cells.emplace_back(
        [spec, &values, &strings](std::size_t row, std::string& to) { append_value(spec, values[row], strings, to); });
  });
  return cells;
}

class CsvFolder {
 public:
  CsvFolder(const RunFileReader& reader, const RunTables& run, std::string folder)
      : reader_(reader), run_(run), folder_(std::move(folder)) {}

  template <typename Table>
  void add(const char* name, const std::vector<std::uint64_t>* process_offset) {
    if (!status_) return;
    status_ = write<Table>(name, process_offset);
  }
  Result<WrittenTables> finish() {
    if (!status_) return tl::unexpected(std::move(status_.error()));
    return written_;
  }

 private:
  template <typename Table>
  Status write(const char* name, const std::vector<std::uint64_t>* process_offset) {
    const auto n_rows = reader_.count_rows<Table>();
    if (!n_rows) return tl::unexpected(n_rows.error());
    auto file = ByteFile::create(fmt::format("{}/{}.csv", folder_, name));
    if (!file) return tl::unexpected(file.error());
    Table table;
    ProcessOfRow process(run_, process_offset);
    write_header(table, process.is_known(), file->buffer());
    const auto cells = cells_of(table, run_.strings);
    for (std::uint64_t first = 0; first < *n_rows; first += kChunkRows) {
      const std::uint64_t n = std::min<std::uint64_t>(kChunkRows, *n_rows - first);
      auto read = reader_.read_rows(table, first, n, [](std::string_view) { return true; });
      if (!read) return read;
      for (std::uint64_t i = 0; i < n; ++i) write_row(cells, first, i, process, *file);
    }
    written_.n_rows += *n_rows;
    ++written_.n_files;
    return file->publish().map([this](std::uint64_t n_bytes) { written_.n_bytes += n_bytes; });
  }

  template <typename Table>
  static void write_header(const Table& table, bool has_process, std::string& to) {
    to += has_process ? "row,process,rank" : "row";
    for_each_column(table, [&to](const auto& spec, const auto&) { to += "," + header_of(spec.name, spec.unit); });
    to += '\n';
  }

  static void write_row(const std::vector<AppendCell>& cells, std::uint64_t first, std::uint64_t i,
                        ProcessOfRow& process, ByteFile& file) {
    std::string& to = file.buffer();
    append_number(first + i, to);
    to += ',';
    process.append(first + i, to);
    for (const AppendCell& cell : cells) {
      cell(i, to);
      to += ',';
    }
    to.back() = '\n';
    file.flush_if_full();
  }

  const RunFileReader& reader_;
  const RunTables& run_;
  std::string folder_;
  WrittenTables written_;
  Status status_;
};

bool is_wanted(std::string_view path) {
  return path == "/job/processes" || path.ends_with("/process_offset");
}

}  // namespace

Result<WrittenTables> write_csv(const RunFileReader& reader, const std::string& folder) {
  const auto run = reader.read(is_wanted);
  if (!run) return tl::unexpected(run.error());
  if (auto made = make_directories(folder); !made) return tl::unexpected(std::move(made.error()));
  CsvFolder tables(reader, *run, folder);
  tables.add<NvtxTable>("nvtx", &run->nvtx_process_offset);
  tables.add<NcclTable>("nccl", &run->nccl_process_offset);
  tables.add<KernelTable>("kernels", &run->kernel_process_offset);
  tables.add<MemopTable>("memops", &run->memop_process_offset);
  tables.add<ApiTable>("api", &run->api_process_offset);
  tables.add<OverheadTable>("overhead", &run->overhead_process_offset);
  tables.add<GraphTable>("graphs", &run->graph_process_offset);
  tables.add<SyncTable>("syncs", &run->sync_process_offset);
  tables.add<CudaEventTable>("cuda_events", &run->cuda_event_process_offset);
  tables.add<NcclWorkTable>("nccl_work", nullptr);
  tables.add<StepTable>("steps", nullptr);
  tables.add<CollectiveTable>("collectives", nullptr);
  tables.add<TransferTable>("transfers", nullptr);
  return tables.finish();
}

}  // namespace jaxprof::exporting
