// All rows of a table that belong to ranks which are asked for, process by process, in stretches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "merge/study/recorded_time.h"
#include "merge/study/row_cursor.h"
#include "merge/study/study.h"

namespace jaxprof::study {

// Rows [begin, end) of `table` are of `process`; row i of `table` is row first + i of the file.
template <typename Table>
struct ProcessRows {
  std::size_t process = 0;
  const Table& table;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::uint64_t first = 0;
};

// `offset` is the table's process_offset. take(ProcessRows, Walker&) in order of the file; the walker is of the
// process's recorded time in scope. kInputUnreadable.
template <typename Table, typename Take>
Status for_process_rows(const StudyRun& run, const StudyOptions& options, const RecordedTime& time,
                        const std::vector<std::uint64_t>& offset, runfile::IsWanted is_wanted, Take&& take) {
  auto cursor = RowCursor<Table>::open(run.reader, std::move(is_wanted));
  if (!cursor) return tl::unexpected(cursor.error());
  for (std::size_t process = 0; process + 1 < offset.size(); ++process) {
    if (!is_rank_wanted(run.tables.processes.rank[process], options)) continue;
    Walker in_scope(time.of_process(process));
    for (std::uint64_t row = offset[process]; row < offset[process + 1];) {
      if (auto read = cursor->seek(row); !read) return read;
      const std::uint64_t last = std::min(cursor->end(), offset[process + 1]);
      const std::uint64_t first = cursor->begin();
      take(ProcessRows<Table>{process, cursor->table(), row - first, last - first, first}, in_scope);
      row = last;
    }
  }
  return {};
}

}  // namespace jaxprof::study
