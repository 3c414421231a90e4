// The order of writing: word lists, strings, tables, offsets, counters, root attributes, and `complete` as the last
// thing before the file is closed.
#include "merge/runfile/run_file_stream.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <thread>

#include "merge/runfile/counter_schema.h"
#include "merge/runfile/counter_writer.h"
#include "merge/runfile/hdf5_objects.h"
#include "merge/runfile/hdf5_session.h"
#include "merge/runfile/output_file.h"
#include "merge/runfile/streamed_tables.h"
#include "merge/runfile/string_writer.h"
#include "merge/runfile/table_writer.h"

namespace jaxprof::runfile {
namespace {

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

Status write_tables(hid_t file, ChunkPool& pool, const RunTables& run, const StreamedTables& streamed) {
  std::vector<const void*> events;
  for_each_event_table(static_cast<const EventTables&>(run),
                       [&events](const auto& table) { events.push_back(&table); });
  Status status;
  for_each_table(run, [&](const auto& table) {
    if (!status) return;
    const auto event = static_cast<std::size_t>(std::find(events.begin(), events.end(), &table) - events.begin());
    if (event == events.size()) {
      status = write_table(file, pool, table);
    } else {
      const StreamedTable& from = streamed.tables()[event];
      status = write_columns(file, table, from.columns, from.n_rows);
    }
  });
  return status;
}

Status write_offsets(hid_t file, ChunkPool& pool, const RunTables& run, const StreamedTables& streamed) {
  Status status;
  for_each_offset(run, [&](const OffsetSpec& spec, const auto& offset, std::size_t, std::size_t) {
    if (!status) return;
    const ColumnText text{spec.path, spec.unit, spec.long_name};
    if (&offset == &run.collective_member_offset) {
      status = write_column_dataset(file, text, file_type<std::uint64_t>(file).get(), streamed.member_offset());
    } else {
      status = write_column(file, pool, text, kNoRow, offset);
    }
  });
  return status;
}

using StreamedCounters = std::map<std::string, CounterChunks>;  // by group

Status write_all(hid_t file, ChunkPool& pool, const RunTables& run, const StreamedTables& streamed,
                 const StreamedCounters& counters) {
  auto status = commit_enums(file);
  if (status) status = write_strings(file, run.strings);
  if (status) status = write_tables(file, pool, run, streamed);
  if (status) status = write_offsets(file, pool, run, streamed);
  for (const CounterTable& table : run.counters) {
    const auto rows = counters.find(path_of(table));
    if (!status) return status;
    status =
        rows == counters.end() ? write_counters(file, pool, table) : write_counters(file, pool, table, rows->second);
  }
  if (status) status = write_root(file, run.attributes);
  if (status && H5Fflush(file, H5F_SCOPE_GLOBAL) < 0) status = fail(ErrorCode::kOutputFailed, hdf5_cause());
  if (status) status = write_attribute(file, "complete", std::uint8_t{1});
  return status;
}

unsigned threads_of(const WriteOptions& options) {
  return options.n_threads > 0 ? options.n_threads : std::thread::hardware_concurrency();
}

}  // namespace

struct RunFileStream::State {
  State(std::string file_path, const WriteOptions& options, OutputFile file)
      : path(std::move(file_path)),
        part_path(file.part_path()),
        output(std::move(file)),
        store(options.scratch_folder.empty() ? folder_of(path) : options.scratch_folder, options.chunk_memory_bytes),
        pool(std::in_place, store, options.compression, threads_of(options)),
        tables(*pool) {}
  ~State() { pool.reset(); }  // its threads fill in chunks of the tables

  // Does `step`, unless something failed before. A failure is the last thing that happens to the file.
  Status attempt(auto&& step) {
    if (failure) return tl::unexpected(*failure);
    Status status = step();
    if (status) status = pool->check();
    if (status) return status;
    output.reset();
    failure = std::move(status.error()).wrap(path);
    return tl::unexpected(*failure);
  }

  Status append_counters(const CounterTable& rows);
  Status write_part(const RunTables& run);

  std::string path;
  std::string part_path;
  std::optional<OutputFile> output;  // none after a failure
  std::optional<Error> failure;
  ChunkStore store;
  std::optional<ChunkPool> pool;
  StreamedTables tables;
  StreamedCounters counters;
};

// Those of the table before are encoded to their end, so that only one table has chunks that are not full.
Status RunFileStream::State::append_counters(const CounterTable& rows) {
  const auto [group, is_new] = counters.try_emplace(path_of(rows), *pool, rows);
  for (auto& [name, others] : counters) {
    if (is_new && name != group->first) others.close();
  }
  return group->second.append(rows);
}

Status RunFileStream::State::write_part(const RunTables& run) {
  TableRows rows = table_rows(run);
  tables.add_rows_to(rows);
  if (auto checked = tables.check_whole(rows); !checked) return checked;
  if (auto checked = check_without_events(run, rows); !checked) return checked;
  tables.close();
  for (auto& [group, chunks] : counters) chunks.close();
  if (auto stored = pool->wait(); !stored) return stored;
  const Handle access = file_access();
  const Handle creation = timeless(H5P_FILE_CREATE);
  Handle file{H5Fcreate(output->part_path().c_str(), H5F_ACC_TRUNC, creation.get(), access.get()), H5Fclose};
  if (!file) return fail(ErrorCode::kOutputFailed, hdf5_cause());
  auto status = write_all(file.get(), *pool, run, tables, counters);
  if (!file.close() && status) status = fail(ErrorCode::kOutputFailed, hdf5_cause());
  return status;
}

RunFileStream::RunFileStream(std::unique_ptr<State> state) : state_(std::move(state)) {}
RunFileStream::RunFileStream(RunFileStream&&) noexcept = default;
RunFileStream& RunFileStream::operator=(RunFileStream&&) noexcept = default;
RunFileStream::~RunFileStream() = default;

Result<RunFileStream> RunFileStream::create(const std::string& path, const WriteOptions& options) {
  prepare_hdf5();
  auto output = OutputFile::create(path, options.may_replace);
  if (!output) return tl::unexpected(std::move(output.error()));
  return RunFileStream{std::make_unique<State>(path, options, std::move(*output))};
}

Status RunFileStream::append(const EventTables& part) {
  return state_->attempt([&] { return state_->tables.append(part); });
}

Status RunFileStream::append_encoded(const EncodedPart& part) {
  return state_->attempt([&] { return state_->tables.append_encoded(part); });
}

const std::string& RunFileStream::part_path() const {
  return state_->part_path;
}

RowPositions RunFileStream::rows() const {
  return state_->tables.rows();
}

Status RunFileStream::append_instances(std::span<const std::uint64_t> rows) {
  return state_->attempt([&] { return state_->tables.append_late("/events/nccl/instance", rows); });
}

Status RunFileStream::append_transfers(std::span<const std::uint64_t> rows) {
  return state_->attempt([&] { return state_->tables.append_late("/events/nccl/transfer", rows); });
}

Status RunFileStream::append_member_ends(std::span<const std::uint64_t> positions) {
  return state_->attempt([&] { return state_->tables.append_member_ends(positions); });
}

Status RunFileStream::append_counters(const CounterTable& rows) {
  return state_->attempt([&] { return state_->append_counters(rows); });
}

Result<WrittenFile> RunFileStream::finish(const RunTables& run) {
  prepare_hdf5();
  const auto written = state_->attempt([&] { return state_->write_part(run); });
  if (!written) return tl::unexpected(written.error());
  auto published = state_->output->publish();
  state_->output.reset();
  state_->failure = published ? Error{ErrorCode::kOutputFailed, state_->path + ": is finished"} : published.error();
  return std::move(published).map([](std::uint64_t size_bytes) { return WrittenFile{size_bytes}; });
}

}  // namespace jaxprof::runfile
