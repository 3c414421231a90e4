// NCCL names functions, data types, algorithms and protocols by strings in its plugin interface; these are the numbers
// that we keep. A name that is not known, or null, is kUnknown: NCCL says "Unknown" itself for ncclUint8.
#pragma once

#include "agent/spool/event_record.h"

namespace jaxprof::nccl {

spool::NcclFunction function_of(const char* name) noexcept;
spool::NcclType type_of(const char* name) noexcept;
spool::NcclAlgorithm algorithm_of(const char* name) noexcept;
spool::NcclProtocol protocol_of(const char* name) noexcept;

// The numbers that NCCL 2.23 gives instead of names.
spool::NcclFunction function_of(std::uint8_t number) noexcept;
spool::NcclType type_of(std::uint8_t number) noexcept;
spool::NcclAlgorithm algorithm_of(std::uint8_t number) noexcept;
spool::NcclProtocol protocol_of(std::uint8_t number) noexcept;

}  // namespace jaxprof::nccl
