// What observers read while the chosen ranks ran: rates of their nodes' network ports and readings of their GPUs, as
// tracks of values.
#pragma once

#include <vector>

#include "merge/export/ranks_and_time.h"
#include "merge/export/trace.h"

namespace jaxprof::exporting {

// `process_tracks` of /job/processes; 0: not exported. GPUs of exported processes stand below them; ports, and GPUs of
// no process, below a track for each of their nodes, where a process of that node is exported. Values are those of
// intervals and readings in `chosen.around`.
void add_counters(const runfile::RunTables& run, const RanksAndTime& chosen,
                  const std::vector<std::uint64_t>& process_tracks, Trace& trace);

}  // namespace jaxprof::exporting
