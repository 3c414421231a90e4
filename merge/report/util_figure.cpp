#include "merge/report/util_figure.h"

#include <limits>

#include "merge/report/table_columns.h"

namespace jaxprof::report {

Figure util_figure(const study::Table& utilmap) {
  Figure figure;
  figure.id = "F8";
  figure.title = "What GPUs did, rank by time";
  figure.definition =
      "Share of each stretch of time in which a compute kernel ran, in which communication ran, and in which both ran "
      "at once "
      "(jaxprof-study utilmap --explain), rounded to a hundredth of a percent.";
  figure.empty_reason = utilmap.rows.empty() ? utilmap.empty_reason : "";
  if (utilmap.rows.empty()) return figure;
  FigureMap& map = figure.map;
  map.row_name = "rank";
  map.column_name = "time";
  map.column_unit = study::Unit::kTimeNs;
  const std::size_t rank = column_of(utilmap, "rank");
  const std::size_t node = column_of(utilmap, "node");
  const std::size_t bin = column_of(utilmap, "bin");
  const std::size_t begin = column_of(utilmap, "begin_ns");
  const std::size_t end = column_of(utilmap, "end_ns");
  for (const study::Row& row : utilmap.rows) {
    const std::int64_t number = integer_at(row, rank);
    if (integer_at(row, bin) == 0) {
      map.row_labels.push_back(rank_label(number == kNoInteger ? -1 : static_cast<std::int32_t>(number)));
      map.row_hosts.push_back(text_at(row, node));
    }
    if (map.row_labels.size() > 1) continue;
    map.column_begins.push_back(number_at(row, begin));
    map.column_ends.push_back(number_at(row, end));
  }
  for (const char* name : {"compute", "comm", "both"}) {
    MapLayer layer{name, name, study::Unit::kShare, false, {}};
    const std::size_t column = column_of(utilmap, name);
    for (const study::Row& row : utilmap.rows) layer.values.push_back(number_at(row, column));
    map.layers.push_back(std::move(layer));
  }
  return figure;
}

}  // namespace jaxprof::report
