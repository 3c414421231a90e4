// NVTX ranges and marks of one process as slices and instants: for each thread a track of those that it pushed, and one
// of those that it started and ended, which may overlap.
#pragma once

#include "merge/export/exported_process.h"

namespace jaxprof::exporting {

// `runs` with the rows of the push/pop ranges around them, so that what begins in a span stands in its place.
Result<RowRuns> with_ranges_around(const runfile::RunFileReader& reader, RowRuns runs);

// A range that never ended goes on to the last stamp of its process. kInputUnreadable.
Status add_ranges(const ExportedProcess& process);

}  // namespace jaxprof::exporting
