// The second half of a run's events, when all processes are known: NCCL's calls get the numbers of their communicators,
// go to the sink, and are matched to instances and transfers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "merge/assembly/call_store.h"
#include "merge/assembly/comm_tables.h"
#include "merge/assembly/diagnostics.h"
#include "merge/assembly/event_sink.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

struct MatchingRoom {
  std::string scratch_folder;
  std::size_t budget_bytes = 0;
};

// `run` has its processes, communicators, segments and /clock (whose times are absolute), and the sink all other
// events. Fills the devices of communicators' members and the counts of /clock/audit. `has_lost_gpu_work` is by
// process.
Status match_calls(const RunSources& sources, CallStore* calls, const CommTables& comms,
                   const std::vector<bool>& has_lost_gpu_work, std::int64_t epoch_ns, const MatchingRoom& room,
                   EventSink* sink, runfile::RunTables* run, Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
