// What a column may point to is written in its unit: "index of TABLE" or "row of TABLE".
#include "merge/runfile/check.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "merge/runfile/table_rows.h"

namespace jaxprof::runfile {
namespace {

// The first fault of a table, "" if there is none.
template <typename Table>
std::string check_table(const Table& table, Extent extent, const TableRows& rows) {
  const std::size_t n = longest_column(table);
  std::string fault;
  for_each_column(table, [&]<typename T>(const ColumnSpec<T>& spec, const std::vector<T>& column) {
    if (!fault.empty() || (column.empty() && extent == Extent::kPartly)) return;
    const std::string where = std::string(spec_of(table).path) + "/" + spec.name + ": ";
    if (column.size() != n) {
      fault = where + std::to_string(column.size()) + " rows where its table has " + std::to_string(n);
    }
    const auto target = rows.find(target_of(spec.unit));
    if (!fault.empty() || target == rows.end()) return;
    const auto highest = highest_index(spec, std::span<const T>(column));
    if (highest && highest->index >= target->second) fault = where + bad_index(spec.unit, *highest, target->second);
  });
  return fault;
}

std::string check_offset(const OffsetSpec& spec, const std::vector<std::uint64_t>& offset, std::size_t n_parts,
                         std::size_t n_rows) {
  const std::string where = std::string(spec.path) + ": ";
  if (offset.size() != n_parts + 1) {
    return where + std::to_string(offset.size()) + " values for " + std::to_string(n_parts) + " parts";
  }
  if (offset.front() != 0 || !std::is_sorted(offset.begin(), offset.end())) return where + "does not ascend from 0";
  if (n_rows > 0 && offset.back() != n_rows) {
    return where + "ends at " + std::to_string(offset.back()) + " of " + std::to_string(n_rows) + " rows";
  }
  return {};
}

// The first fault of a group of counters, "" if there is none.
std::string check_counters(const CounterTable& table, Extent extent, std::uint64_t n_subjects) {
  const std::string group = path_of(table);
  const std::size_t n = std::max(longest_column(table), table.columns.empty() ? 0 : table.columns[0].values.size());
  std::string fault;
  const auto check_length = [&](const std::string& name, std::size_t rows) {
    if (!fault.empty() || rows == n) return;
    fault = group + "/" + name + ": " + std::to_string(rows) + " rows where its table has " + std::to_string(n);
  };
  for_each_column(table, [&](const auto& spec, const auto& values) {
    if (!values.empty() || extent == Extent::kWhole) check_length(spec.name, values.size());
  });
  for (const CounterColumn& column : table.columns) check_length(column.name, column.values.size());
  if (!fault.empty() || (extent == Extent::kPartly && table.offset.size() == 1)) return fault;
  OffsetSpec spec = offset_spec_of(table.subject);
  const std::string path = group + "/" + spec.path;
  spec.path = path.c_str();
  return check_offset(spec, table.offset, n_subjects, n);
}

// The first fault of a run, with or without its tables of events.
std::string check_tables(const RunTables& run, Extent extent, const TableRows& rows, bool has_events) {
  std::vector<const void*> left_out;
  const EventTables& events = run;
  for_each_event_table(events, [&](const auto& table) {
    if (!has_events) left_out.push_back(&table);
  });
  std::string fault;
  for_each_offset(run, [&](const OffsetSpec& spec, const auto& offset, std::size_t n_parts, std::size_t n_rows) {
    const bool was_not_read = extent == Extent::kPartly && offset.size() == 1;
    if (!fault.empty() || was_not_read) return;
    if (const auto table = rows.find(target_of(spec.unit)); !has_events && table != rows.end()) n_rows = table->second;
    if (has_events || &offset != &run.collective_member_offset) fault = check_offset(spec, offset, n_parts, n_rows);
  });
  for_each_table(run, [&](const auto& table) {
    const bool is_left_out = std::find(left_out.begin(), left_out.end(), &table) != left_out.end();
    if (fault.empty() && !is_left_out) fault = check_table(table, extent, rows);
  });
  for (const CounterTable& table : run.counters) {
    const char* subjects = table.subject == CounterSubject::kGpu ? "/job/devices" : "/job/nics";
    if (fault.empty()) fault = check_counters(table, extent, rows.at(subjects));
  }
  return fault;
}

}  // namespace

std::string_view target_of(std::string_view unit) {
  for (const std::string_view prefix : {"index of ", "row of "}) {
    if (unit.starts_with(prefix)) return unit.substr(prefix.size());
  }
  return {};
}

std::string bad_index(std::string_view unit, HighestIndex bad, std::uint64_t limit) {
  return "row " + std::to_string(bad.row) + " points to " + std::string(unit) + " " + std::to_string(bad.index) +
         " of " + std::to_string(limit);
}

TableRows table_rows(const RunTables& run) {
  TableRows rows;
  for_each_table(run, [&rows](const auto& table) {
    const TableSpec spec = spec_of(table);
    if (std::string_view{spec.rows_attribute} == "n_rows") rows[spec.path] = longest_column(table);
  });
  rows["/strings/value"] = run.strings.size();
  return rows;
}

Status check_run(const RunTables& run, Extent extent, const TableRows& rows) {
  const ErrorCode code = extent == Extent::kWhole ? ErrorCode::kOutputFailed : ErrorCode::kInputUnreadable;
  if (std::string fault = check_tables(run, extent, rows, true); !fault.empty()) return fail(code, std::move(fault));
  return {};
}

Status check_without_events(const RunTables& run, const TableRows& rows) {
  std::string fault = check_tables(run, Extent::kWhole, rows, false);
  if (!fault.empty()) return fail(ErrorCode::kOutputFailed, std::move(fault));
  return {};
}

}  // namespace jaxprof::runfile
