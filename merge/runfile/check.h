// A run file's tables point into each other by row number, so one wrong number is a read outside of a vector. These
// checks hold before a run is written and after one was read: columns of one length, offsets that ascend, indices
// that exist. Values themselves are not judged.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/column_spec.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

enum class Extent {
  kWhole,   // a run to be written: all columns and offsets are there
  kPartly,  // a run that was read: columns and offsets that were not asked for are empty
};

// Rows by the path of the table ("/comms", "/strings/value"): what an index may point to.
using TableRows = std::map<std::string_view, std::uint64_t>;

// The rows of `run`, of which all columns are there.
TableRows table_rows(const RunTables& run);

// `rows` are those of the file, if `run` is only a part of it. kWhole fails with kOutputFailed, kPartly with
// kInputUnreadable.
Status check_run(const RunTables& run, Extent extent, const TableRows& rows);

// The same of all but the tables of events and collective_member_offset, which lie elsewhere; `rows` has theirs as
// well. kOutputFailed.
Status check_without_events(const RunTables& run, const TableRows& rows);

// The table that a column of this unit points to ("/comms" for "index of /comms"); "" if it points to none.
std::string_view target_of(std::string_view unit);

// The highest index of a column and the first row that has it. A negative index is a huge one.
struct HighestIndex {
  std::uint64_t index;
  std::uint64_t row;

  bool operator==(const HighestIndex&) const = default;
};

// Nothing if the column points nowhere, or every value of it is missing.
template <typename T>
std::optional<HighestIndex> highest_index(const ColumnSpec<T>& spec, std::span<const T> column) {
  if constexpr (std::is_same_v<T, StringId> || std::is_integral_v<T>) {
    if (target_of(spec.unit).empty()) return std::nullopt;
    std::uint64_t after_highest = 0;  // a maximum without branches is several times faster
    const auto index_of = [](T value) { return static_cast<std::uint64_t>(value); };
    for (const T value : column) {
      after_highest = std::max(after_highest, value == spec.missing ? 0 : index_of(value) + 1);
    }
    if (after_highest == 0) return std::nullopt;
    const auto is_it = [&](T value) { return value != spec.missing && index_of(value) == after_highest - 1; };
    const auto found = std::find_if(column.begin(), column.end(), is_it);
    return HighestIndex{after_highest - 1, static_cast<std::uint64_t>(found - column.begin())};
  } else {
    return std::nullopt;
  }
}

// "row 3 points to index of /comms 7 of 2"
std::string bad_index(std::string_view unit, HighestIndex bad, std::uint64_t limit);

// Of rows from `first` on of the column at `path`. kInputUnreadable names the row that points outside of its table.
template <typename T>
Status check_indices(const ColumnSpec<T>& spec, const std::string& path, std::span<const T> column, std::uint64_t first,
                     const TableRows& limits) {
  const auto limit = limits.find(target_of(spec.unit));
  if (limit == limits.end()) return {};
  const auto highest = highest_index(spec, column);
  if (!highest || highest->index < limit->second) return {};
  const HighestIndex bad{highest->index, first + highest->row};
  return fail(ErrorCode::kInputUnreadable, path + ": " + bad_index(spec.unit, bad, limit->second));
}

}  // namespace jaxprof::runfile
