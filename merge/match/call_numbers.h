// Numbers for calls that only NVTX saw. Nobody numbers those but the agent, which counts per process, function and
// communicator (agent/nvtx/nccl_ordinals.h); in spools of agents that did not count, the k-th call of a function on a
// communicator is its k-th on every member. Where the plugin numbers some calls of a kind, the rest stay without.
//
// A process that drives several GPUs holds several members of a communicator, and NVTX does not say which one called:
// the agent's count is then one sequence over all of them. It is split where it can be:
// - as many threads call as there are members, and all is recorded from the first call on: a thread is a member;
// - one thread calls for all, in groups that hold as many calls of the kind as there are members: one of each.
// The calls that would become one must agree on bytes and reduction. Everything else stays without a number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "merge/match/comm_members.h"
#include "merge/match/nccl_calls.h"

namespace jaxprof::match {

// `ordinals`: NvtxRange::call_ordinal by place in `calls`, 0 for those that have none and for all behind its end;
// `order`: places, by time. Sets sequence,
// is_sequence_counted and, where the thread that made a member calls for it, comm_rank. `members` are settled.
void number_calls(const std::vector<std::uint64_t>& ordinals, const std::vector<std::size_t>& order,
                  const CommMembers& members, std::vector<NcclCall>* calls);

}  // namespace jaxprof::match
