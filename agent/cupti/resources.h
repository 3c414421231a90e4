// Registers what CUPTI tells at the moment it is made: contexts, streams with the address by which the program and NCCL
// know them, and those nodes of CUDA graphs that an NCCL launch made, with that launch: a captured collective launches
// nothing, and when the graph is launched later only the node says whose kernel runs. Inside CUPTI's resource
// callbacks, where numbers may be asked for, and nothing else.
#pragma once

#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/functions.h"
#include "agent/cupti/nccl_nodes.h"

namespace jaxprof::cupti {

// `nodes` are those that are registered. Nodes that it has no room for are counted (Drop::kStateLogFull).
void register_resource(const Functions& functions, abi::CallbackId id, const abi::ResourceData& data,
                       NcclNodes* nodes) noexcept;

}  // namespace jaxprof::cupti
