// NCCL calls of one process as slices: on the host, a track a thread, and on the GPU, a track for each GPU and
// communicator, joined to those of other members of the same instance; and how late the process came to them.
#pragma once

#include "merge/export/exported_process.h"
#include "merge/export/late_members.h"

namespace jaxprof::exporting {

// Rows of /events/nccl of a process that begin in its time, on the host or on the GPU. Of columns in memory.
RowRuns calls_in(const runfile::RunTables& run, std::size_t process, const study::Intervals& time);

// `n_collectives`: rows of /collectives, behind which the numbers of transfers' flows begin. kInputUnreadable.
Status add_calls(const ExportedProcess& process, std::uint64_t n_collectives);
void add_late_arrivals(const ExportedProcess& process, const LateMembers& late);

}  // namespace jaxprof::exporting
