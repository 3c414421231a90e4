// Matching of a run whose tables are in memory as a whole: feeds InstanceMatcher from /events/nccl and writes what
// comes out back into the tables.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/match/call_record.h"
#include "merge/match/instance_matcher.h"
#include "merge/runfile/run_tables.h"

namespace jaxprof::match {

// The rows of /events/nccl, by `run`'s offsets of processes. `calls_in_plan` says for each row how many calls shared
// its kernel, 0 where that is not known.
std::vector<CallRecord> call_records(const runfile::RunTables& run, const std::vector<std::uint64_t>& calls_in_plan);

// What matching knows of `run`, but for clocks.
MatchFacts match_facts(const runfile::RunTables& run, const std::vector<bool>& has_lost_gpu_work);

// Fills /collectives from the rows of /events/nccl, /comms and /job/processes, and sets their `instance`. A
// communicator of unknown size counts the members that were seen. `has_lost_gpu_work` says it of each process: replays
// are numbered by their work, and a lost one would shift the rest. Leaves /transfers empty.
UnmatchedCalls match_instances(const std::vector<std::uint64_t>& calls_in_plan,
                               const std::vector<bool>& has_lost_gpu_work, runfile::RunTables* run);

}  // namespace jaxprof::match
