// Up to NCCL 2.22, and wherever no profiler plugin is loaded, NCCL's ranges are all that tells its calls, and they
// carry no number. Which call of one rank belongs to which of another then follows from counting, and counting must not
// depend on when the window opened or on what was dropped. So the agent counts, from attach on: calls per function,
// communicator and peer. Where a payload names them is what NCCL registered as the payload's schema. NCCL up to 2.24
// names no communicator; its calls are not counted here.
//
// Any thread, no lock; memory is bounded, and calls beyond the bound are not counted.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/nvtx_types.h"
#include "agent/spool/state_record.h"

namespace jaxprof::nvtx {

// NCCL's domain (its nvtx.h).
inline constexpr const char* kNcclDomain = "NCCL";

// A schema of NCCL's domain, as it is registered.
void note_nccl_schema(std::uint64_t schema, const nvtxPayloadSchemaEntry_t* entries, std::size_t entry_count) noexcept;

// A push in NCCL's domain: spool::nvtx_field::kCallOrdinal, 1 + the number of calls before it of the same function,
// communicator and peer. 0: its payload names no communicator, or it could not be counted.
std::uint64_t count_nccl_call(spool::StringId function, const nvtxPayloadData_t* payloads, std::size_t count) noexcept;

}  // namespace jaxprof::nvtx
