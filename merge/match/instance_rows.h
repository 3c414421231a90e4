// Makes rows of /collectives and /transfers of the calls that belong together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "merge/match/arrivals.h"
#include "merge/match/call_record.h"
#include "merge/runfile/event_tables.h"

namespace jaxprof::match {

// Adds the instance of `members`, which are in the order of their ranks, each one once. `rank_count` of its
// communicator; kNoIndex: not known.
void add_instance(std::span<const CallRecord> members, std::uint32_t rank_count, Arrivals* arrivals,
                  runfile::CollectiveTable* table);

// Adds the transfer of a Send and a Recv, or of one of the two.
void add_transfer(std::span<const CallRecord> sides, Arrivals* arrivals, runfile::TransferTable* table);

}  // namespace jaxprof::match
