// Payloads by schema: the bytes that come with a range or mark, measured, cut to what an event holds, and copied into
// it while they are valid, which is during the callback.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/nvtx/nvtx_types.h"

namespace jaxprof::nvtx {

// Sizes of the payloads of one event, cut so that all of them fit into kMaxPayloadBytes.
inline constexpr std::size_t kMaxBlobs = 16;
struct Blobs {
  const nvtxPayloadData_t* from = nullptr;
  std::size_t count = 0;
  std::uint32_t bytes[kMaxBlobs];       // kept
  std::uint32_t full_bytes[kMaxBlobs];  // given
  std::uint32_t total = 0;              // with headers, a multiple of 8
};

// What is cut is counted.
Blobs measure(const nvtxPayloadData_t* payload, std::size_t count) noexcept;
// `to` has room for blobs.total bytes.
void copy(const Blobs& blobs, std::uint64_t* to) noexcept;

}  // namespace jaxprof::nvtx
