// In an explicit group NCCL enqueues what was called only where the group ends, and up to version 4 of its plugin's
// interface no event names the API call that an enqueued one came from: the NVTX range is long over when the Coll or
// P2p comes. They are brought together here: a range that the group holds, and an event that starts within the group's
// outermost ncclGroupEnd on the same thread, are one call if function, communicator, peer and bytes agree. NCCL orders
// a group by size; calls that agree in all of that are taken in their order on both sides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "merge/match/nccl_calls.h"
#include "merge/match/plugin_events.h"
#include "merge/match/range_calls.h"
#include "merge/rundir/spool_trace.h"

namespace jaxprof::match {

// `calls` are those of the ranges, `events` the enqueued ones without an API event. Answers the call of each event that
// has one, by the event's handle. What one side does not tell (communicators up to NCCL 2.24, bytes of an unknown type)
// does not part them, once all that tell everything are settled.
std::unordered_map<std::uint64_t, std::size_t> pair_grouped_events(const rundir::SpoolTrace& trace, RangeCalls* ranges,
                                                                   const std::vector<NcclCall>& calls,
                                                                   std::vector<const PluginEvent*> events);

}  // namespace jaxprof::match
