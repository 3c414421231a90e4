#include "agent/nvtx/blobs.h"

#include <cstring>

#include "agent/collect/event_sink.h"
#include "agent/nvtx/registry.h"
#include "agent/spool/event_record.h"

namespace jaxprof::nvtx {
namespace {

constexpr std::uint32_t round_up(std::uint32_t bytes) noexcept {
  return (bytes + 7) & ~7U;
}

}  // namespace

Blobs measure(const nvtxPayloadData_t* payload, std::size_t count) noexcept {
  Blobs blobs;
  blobs.from = payload;
  if (payload == nullptr) return blobs;
  for (; blobs.count < count && blobs.count < kMaxBlobs; ++blobs.count) {
    const nvtxPayloadData_t& data = payload[blobs.count];
    std::size_t bytes = data.size == SIZE_MAX ? static_payload_bytes(data.schemaId) : data.size;
    if (data.payload == nullptr) bytes = 0;
    const std::uint32_t full = bytes < UINT32_MAX ? static_cast<std::uint32_t>(bytes) : UINT32_MAX;
    constexpr std::uint32_t kHeader = sizeof(spool::PayloadHeader);
    if (blobs.total + kHeader > spool::kMaxPayloadBytes) break;
    const auto room = static_cast<std::uint32_t>(spool::kMaxPayloadBytes) - blobs.total - kHeader;
    blobs.bytes[blobs.count] = full < room ? full : room;
    blobs.full_bytes[blobs.count] = full;
    if (full > room) collect::count_drop(Drop::kPayloadTruncated);
    blobs.total += kHeader + round_up(blobs.bytes[blobs.count]);
  }
  if (blobs.count < count) collect::count_drop(Drop::kPayloadTruncated);
  return blobs;
}

void copy(const Blobs& blobs, std::uint64_t* to) noexcept {
  auto* out = reinterpret_cast<std::uint8_t*>(to);
  for (std::size_t i = 0; i < blobs.count; ++i) {
    const spool::PayloadHeader header{blobs.from[i].schemaId, blobs.bytes[i], blobs.full_bytes[i]};
    std::memcpy(out, &header, sizeof header);
    out += sizeof header;
    const std::uint32_t padded = round_up(blobs.bytes[i]);
    if (padded > 0) std::memset(out + padded - 8, 0, 8);
    if (blobs.bytes[i] > 0) std::memcpy(out, blobs.from[i].payload, blobs.bytes[i]);
    out += padded;
  }
}

}  // namespace jaxprof::nvtx
