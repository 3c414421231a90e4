// The side file of a run file: tables that studies saved, each a compound dataset that pandas, PyTables and h5py open.
// It is written anew with every table, under its name only when it is whole.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "agent/base/result.h"

namespace jaxprof::runfile {

struct AnalysisColumn {
  std::string name;
  std::string unit;  // "ns", "bytes", "GB/s", "1"; "" for text
  std::string long_name;
  // All columns of a table have the same length. Missing: the least int64, NaN, "".
  std::variant<std::vector<std::int64_t>, std::vector<double>, std::vector<std::string>> values;
};

struct AnalysisTable {
  std::string name;  // of its dataset: the study's
  std::string long_name;
  std::string verdict;
  std::vector<std::pair<std::string, std::string>> parameters;  // become attributes "parameter.NAME"
  std::vector<AnalysisColumn> columns;                          // at least one
};

// Puts the table at /NAME, in place of an earlier one; the other tables of the file at `path` stay. kOutputFailed, also
// if what is at `path` is not such a file.
Status write_analysis_table(const AnalysisTable& table, const std::string& path);

}  // namespace jaxprof::runfile
