// How large a record of a kind is, by CUPTI's version. The columns were measured with the real libraries (kind repeated
// through a buffer, cuptiActivityGetNextRecord's steps), and the oracle test measures them again where it finds one.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>

namespace jaxprof::fake_cuda {

// Of version 140000, which does not exist.
inline constexpr auto kInventedKind = static_cast<CUpti_ActivityKind>(77);
inline constexpr int kKindLimit = 128;

// The version that the switch or the file says.
std::uint32_t cupti_version();
// Bytes; 0: the version has no such kind.
std::size_t record_stride(std::uint32_t version, CUpti_ActivityKind kind);

}  // namespace jaxprof::fake_cuda
