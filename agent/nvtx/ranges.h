// NVTX's events: push and pop, start and end, marks, with their payloads, written as they come. Pairing is the merge's
// work; what makes it safe under loss is the depth that each push and pop carries. All functions: any thread, noexcept,
// no lock or system call but the first use of a string. Depths follow NVTX: push returns the range's level from 0, pop
// the level of the range it closed, both negative on failure.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/nvtx_types.h"
#include "agent/spool/state_record.h"

namespace jaxprof::nvtx {

int push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) noexcept;
int push_message(spool::StringId message) noexcept;
int push_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
int pop(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
nvtxRangeId_t start(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) noexcept;
nvtxRangeId_t start_message(spool::StringId message) noexcept;
nvtxRangeId_t start_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
void end(nvtxDomainHandle_t domain, nvtxRangeId_t range, const nvtxPayloadData_t* payload, std::size_t count) noexcept;
void mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) noexcept;
void mark_message(spool::StringId message) noexcept;
void mark_payload(nvtxDomainHandle_t domain, const nvtxPayloadData_t* payload, std::size_t count) noexcept;

}  // namespace jaxprof::nvtx
