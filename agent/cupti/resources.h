// Registers what CUPTI tells at the moment it is made: contexts, streams with the address by which the program and NCCL
// know them, and the nodes of CUDA graphs with the NCCL launch that made them: a captured collective launches nothing,
// and when the graph is launched later only the node says whose kernel runs. Inside CUPTI's resource callbacks, where
// numbers may be asked for, and nothing else.
#pragma once

#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/functions.h"

namespace jaxprof::cupti {

void register_resource(const Functions& functions, abi::CallbackId id, const abi::ResourceData& data) noexcept;

}  // namespace jaxprof::cupti
