// What is to be said of how members' calls go together: of a process, that it left calls out, made them in another
// order than the others, or was recorded later or shorter than these; of all sends and receives, how many are in no
// transfer.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/assembly/diagnostics.h"
#include "merge/assembly/run_sources.h"
#include "merge/match/call_order.h"
#include "merge/match/instance_matcher.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::assembly {

// `findings` by process, with times that are still absolute; of `run` the losses of processes.
void diagnose_call_order(const std::vector<match::CallFinding>& findings, const RunSources& sources,
                         const runfile::RunTables& run, Diagnostics* diagnostics);

// Flags of transfers, counted.
struct TransferCounts {
  std::uint64_t partial = 0;
  std::uint64_t mismatch = 0;
  void take(const runfile::TransferTable& transfers);
};
void diagnose_transfers(const match::UnmatchedTransfers& unmatched, const TransferCounts& counts,
                        Diagnostics* diagnostics);

}  // namespace jaxprof::assembly
