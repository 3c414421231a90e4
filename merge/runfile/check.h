// A run file's tables point into each other by row number, so one wrong number is a read outside of a vector. These
// checks hold before a run is written and after one was read: columns of one length, offsets that ascend, indices
// that exist. Values themselves are not judged.
#pragma once

#include "agent/base/result.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::runfile {

enum class Extent {
  kWhole,   // a run to be written: all columns and offsets are there
  kPartly,  // a run that was read: columns and offsets that were not asked for are empty
};

// kWhole fails with kOutputFailed, kPartly with kInputUnreadable.
Status check_run(const RunTables& run, Extent extent);

}  // namespace jaxprof::runfile
