#include "merge/study/sum_columns.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace jaxprof::study {

std::vector<Column> time_columns(const std::string& prefix, const std::string& heading) {
  const auto column = [&](const char* name, const char* word, bool is_detail) {
    return Column{prefix + name, heading + word, Unit::kTimeNs, is_detail};
  };
  return {column("total_ns", "total", false), column("mean_ns", "avg", false), column("p50_ns", "med", false),
          column("min_ns", "min", false),     column("max_ns", "max", false),  column("std_ns", "std", false)};
}

std::vector<Column> size_columns() {
  return {{"total_bytes", "size", Unit::kBytes},         {"mean_bytes", "avg size", Unit::kBytes},
          {"p50_bytes", "med size", Unit::kBytes, true}, {"min_bytes", "min size", Unit::kBytes, true},
          {"max_bytes", "max size", Unit::kBytes},       {"std_bytes", "std size", Unit::kBytes, true}};
}

Row sum_cells(const ValueCounts& values) {
  if (values.n() == 0) return {Missing{}, Missing{}, Missing{}, Missing{}, Missing{}, Missing{}};
  const ValueCounts::Shape shape = values.shape();
  return {values.total(), shape.mean,   shape.p50,
          values.min(),   values.max(), values.n() > 1 ? Cell{shape.std} : Cell{Missing{}}};
}

Cell share_cell(std::int64_t a, std::int64_t b) {
  return b > 0 ? Cell{static_cast<double>(a) / static_cast<double>(b)} : Cell{Missing{}};
}

std::string rounding_note(std::size_t n_rows) {
  return fmt::format("med and std of {} row{} are rounded by at most 0.1 %", n_rows, n_rows == 1 ? "" : "s");
}

void append(std::vector<Column>& columns, std::vector<Column> more) {
  std::move(more.begin(), more.end(), std::back_inserter(columns));
}

void append(Row& row, Row more) {
  std::move(more.begin(), more.end(), std::back_inserter(row));
}

void keep_small(std::vector<ValueCounts*> tables, std::size_t most_entries) {
  std::size_t n = 0;
  for (const ValueCounts* table : tables) n += table->n_entries();
  if (n <= most_entries) return;
  std::sort(tables.begin(), tables.end(),
            [](const ValueCounts* a, const ValueCounts* b) { return a->n_entries() > b->n_entries(); });
  for (ValueCounts* table : tables) {
    if (n <= most_entries / 2) return;  // so that it is not called for at once again
    const std::size_t before = table->n_entries();
    table->round();
    n -= before - table->n_entries();
  }
}

}  // namespace jaxprof::study
