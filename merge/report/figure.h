// What a figure shows, as numbers: tables, and maps of rows by columns. How it is drawn is figures.js's business.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "merge/study/table.h"

namespace jaxprof::report {

// One quantity of a map.
struct MapLayer {
  std::string name;     // "fault_ns"
  std::string heading;  // "fault"
  study::Unit unit = study::Unit::kNone;
  bool is_signed = false;      // has a middle: 0
  std::vector<double> values;  // at row * columns + column; NaN: missing
};

struct FigureMap {
  std::string row_name;                 // what a row is: "rank"
  std::vector<std::string> row_labels;  // "12"
  std::vector<std::string> row_hosts;   // of each row
  std::string column_name;              // what a column is: "step", "time"
  study::Unit column_unit = study::Unit::kNone;
  std::vector<double> column_begins;  // the first step of a column, or ns on the run's axis
  std::vector<double> column_ends;    // the last step, or ns
  std::vector<MapLayer> layers;
  bool is_empty() const { return layers.empty() || row_labels.empty() || column_begins.empty(); }
};

struct Figure {
  std::string id;  // "F4"
  std::string title;
  std::string definition;  // a sentence or two for people
  std::string study;       // the study whose table it draws; "" where it has tables or a map of its own
  std::vector<std::pair<std::string, study::Table>> tables;
  FigureMap map;
  std::string empty_reason;  // why there is nothing to draw; "" if there is
};

// "3", "GPU ?": the label of a row about a rank.
std::string rank_label(std::int32_t rank);

}  // namespace jaxprof::report
