#include "merge/assembly/event_sink.h"

#include <vector>

#include "merge/runfile/table_rows.h"

namespace jaxprof::assembly {
namespace {

template <typename T>
void append_to(std::vector<T>& column, std::span<const T> values) {
  column.insert(column.end(), values.begin(), values.end());
}

}  // namespace

Status MemorySink::append(const runfile::EventTables& rows) {
  std::vector<const void*> parts;  // each of the type that the same table of the run has
  runfile::for_each_event_table(rows, [&parts](const auto& part) { parts.push_back(&part); });
  std::size_t next = 0;
  runfile::EventTables& all = *run_;
  runfile::for_each_event_table(all, [&]<typename Table>(Table& table) {
    runfile::append_rows(table, *static_cast<const Table*>(parts[next++]));
  });
  return {};
}

Status MemorySink::append_encoded(const runfile::EncodedPart&) {
  return fail(ErrorCode::kOutputFailed, "encoded rows do not go into tables");
}

Status MemorySink::append_instances(std::span<const std::uint64_t> rows) {
  append_to<std::uint64_t>(run_->nccl.instance, rows);
  return {};
}

Status MemorySink::append_transfers(std::span<const std::uint64_t> rows) {
  append_to<std::uint64_t>(run_->nccl.transfer, rows);
  return {};
}

Status MemorySink::append_member_ends(std::span<const std::uint64_t> positions) {
  append_to<std::uint64_t>(run_->collective_member_offset, positions);
  return {};
}

Status MemorySink::append_counters(const runfile::CounterTable& rows) {
  for (runfile::CounterTable& table : run_->counters) {
    if (table.subject != rows.subject || table.driver != rows.driver) continue;
    append_to<std::int64_t>(table.time_ns, rows.time_ns);
    append_to<std::int64_t>(table.read_ns, rows.read_ns);
    append_to<std::uint32_t>(table.flags, rows.flags);
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      append_to<std::uint64_t>(table.columns[i].values, rows.columns[i].values);
    }
  }
  return {};
}

}  // namespace jaxprof::assembly
