// Reads the groups below /counters of a file that may be damaged, foreign or newer. Which groups and counters there are
// is found by listing; a dataset without the marks of a counter is somebody else's and left out.
#pragma once

#include <vector>

#include "agent/base/result.h"
#include "merge/runfile/counter_table.h"
#include "merge/runfile/hdf5_handle.h"
#include "merge/runfile/run_file_reader.h"

namespace jaxprof::runfile {

// The groups of which anything is wanted, in order of their names, GPUs last. Counters that are not wanted are not
// among a group's columns, fixed columns that are not wanted are empty. kInputUnreadable names the dataset.
Result<std::vector<CounterTable>> read_counters(hid_t file, const IsWanted& is_wanted);

}  // namespace jaxprof::runfile
