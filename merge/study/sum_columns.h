// The columns of nsys's summaries (Time %, Total, Instances, Avg, Med, Min, Max, StdDev), which its users know, for
// every table that sums up times or sizes by name.
#pragma once

#include <string>
#include <vector>

#include "merge/study/table.h"
#include "merge/study/value_counts.h"

namespace jaxprof::study {

// NAME_ns and so on: total, mean, p50, min, max, std. `prefix` is "" or as "gpu_".
std::vector<Column> time_columns(const std::string& prefix, const std::string& heading);
// total_bytes and so on.
std::vector<Column> size_columns();

// One cell a column of either; all but the total missing without a value.
Row sum_cells(const ValueCounts& values);

// a / b; missing if b is not positive.
Cell share_cell(std::int64_t a, std::int64_t b);

// "med and std of 3 rows are rounded by at most 0.1 %".
std::string rounding_note(std::size_t n_rows);

void append(std::vector<Column>& columns, std::vector<Column> more);
void append(Row& row, Row more);

// Rounds the largest tables until all together have at most this many entries, of which each takes up to 64 bytes.
inline constexpr std::size_t kMostEntries = 6'000'000;
void keep_small(std::vector<ValueCounts*> tables, std::size_t most_entries = kMostEntries);

}  // namespace jaxprof::study
