// Fills what the observers of nodes read: /job/nics, /job/observers, the GPUs that they found in /job/devices, and
// /counters, whose rows go to the sink: there may be more of them than memory.
#pragma once

#include <cstdint>
#include <vector>

#include "agent/base/result.h"
#include "merge/assembly/event_sink.h"
#include "merge/assembly/node_samples.h"
#include "merge/assembly/run_sources.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// How many rows of a port have these flags.
struct PortFlags {
  std::uint64_t resets = 0;
  std::uint64_t saturated = 0;
};

// After the GPUs of processes are in /job/devices. Times of rows count from `epoch_ns`, the others are absolute until
// shift_to_epoch. Rows take about `budget_bytes`, or what those of one port are. By row of /job/nics what flags there
// are; fails as the sink does.
Result<std::vector<PortFlags>> fill_counter_tables(const RunSources& sources, const NodeSamples& samples,
                                                   std::int64_t epoch_ns, std::size_t budget_bytes, EventSink* sink,
                                                   runfile::RunTables* run);

}  // namespace jaxprof::assembly
