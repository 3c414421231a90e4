// A run file's tables point into each other by row number, so one wrong number is a read outside of a vector. These
// checks hold before a run is written and after one was read: columns of one length, offsets that ascend, indices
// that exist. Values themselves are not judged.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>

#include "agent/base/result.h"
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

}  // namespace jaxprof::runfile
