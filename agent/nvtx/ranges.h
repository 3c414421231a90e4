// NVTX's events: push and pop, start and end, marks, with their payloads, written as they come. Pairing is the merge's
// work; what makes it safe under loss is the depth that each push and pop carries. Outside the window only depths are
// kept, and steps, NCCL's calls and the window's own ranges are looked for. All functions: any thread, noexcept, no
// lock or system call but the first use of a string and the window's edges. Depths follow NVTX: push returns the
// range's level from 0, pop the level of the range it closed, both negative on failure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/attributes.h"
#include "agent/nvtx/nvtx_types.h"

namespace jaxprof::nvtx {

int push(nvtxDomainHandle_t domain, const Given& from) noexcept;
int pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
nvtxRangeId_t start(nvtxDomainHandle_t domain, const Given& from) noexcept;
void end(nvtxDomainHandle_t domain, nvtxRangeId_t range, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
void mark(nvtxDomainHandle_t domain, const Given& from) noexcept;

}  // namespace jaxprof::nvtx
