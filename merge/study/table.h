// What a study answers: a verdict, a table of typed cells, and why there is nothing to see if there is not. Values are
// raw (nanoseconds, bytes); a renderer makes them readable or leaves them exact. No study formats a number itself.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace jaxprof::study {

struct Missing {
  bool operator==(const Missing&) const = default;
};
using Cell = std::variant<Missing, std::int64_t, double, std::string>;

// How a number is shown to a person; machine formats write it as it is.
enum class Unit {
  kNone,       // text, or a plain number
  kTimeNs,     // 1500000 -> 1.5 ms
  kBytes,      // 65536 -> 64 KiB
  kGbPerS,     // 10^9 bytes a second
  kRatio,      // 0.25
  kShare,      // 0.25 -> 25 %
  kUnitOfRow,  // this row's unit is the word in the column "unit": ns, bytes, or anything else for a plain number
};

struct Column {
  std::string name;     // key in machine formats, with its unit: "p50_ns"
  std::string heading;  // for people: "p50"
  Unit unit = Unit::kNone;
  bool is_detail = false;  // machine formats and --wide only
};

using Row = std::vector<Cell>;

// How bad what a study found is; --fail-on compares it.
enum class Finding { kNone, kWarning, kCritical };

struct Table {
  std::string study;
  std::string heading;                                   // what the numbers are, above the table
  std::string verdict;                                   // one line, first in every format for people
  std::vector<std::pair<std::string, Cell>> parameters;  // what was asked: file, filters
  std::vector<Column> columns;
  std::vector<Row> rows;           // each as long as `columns`
  std::vector<std::string> notes;  // below the table; also why a column is empty
  std::string empty_reason;        // why there are no rows, whenever there are none
  Finding finding = Finding::kNone;
};

}  // namespace jaxprof::study
