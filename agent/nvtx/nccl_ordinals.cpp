#include "agent/nvtx/nccl_ordinals.h"

#include <atomic>
#include <cstring>

#include "agent/nvtx/registry.h"

namespace jaxprof::nvtx {
namespace {

// The entries that name a call's communicator and peer (NCCL 2.25 and later).
constexpr const char* kCommunicatorEntry = "NCCL communicator ID";
constexpr const char* kPeerEntry = "Peer rank";

// Where a schema's payloads name their call's parts, in one word: 1 + offset of the communicator in the low half, 1 +
// offset of the peer in the high half, 0 for one that is not there.
struct Places {
  std::atomic<std::uint64_t> schema;
  std::atomic<std::uint64_t> word;
};
constexpr std::size_t kSchemas = 256;  // NCCL has some thirty
Places places[kSchemas];

constexpr std::uint64_t place(std::uint64_t offset) noexcept {
  return offset < UINT32_MAX ? offset + 1 : 0;
}

// A counter a function, communicator and peer, by a fingerprint of the three. Two that share one in 64 bits would be
// counted together; among all that fit that is less likely than one in a thousand million.
struct Counter {
  std::atomic<std::uint64_t> fingerprint;
  std::atomic<std::uint64_t> count;
};
constexpr std::size_t kCounters = 1U << 16;  // one MiB, of which the system gives the pages that are used
constexpr std::size_t kMaxProbes = 64;
Counter counters[kCounters];

// The finalizer of MurmurHash3, which spreads every bit over all.
constexpr std::uint64_t mix(std::uint64_t value) noexcept {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdU;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53U;
  return value ^ (value >> 33);
}

constexpr std::uint64_t fingerprint_of(spool::StringId function, std::uint64_t communicator,
                                       std::uint64_t peer) noexcept {
  const std::uint64_t value = mix(mix(communicator) + mix(static_cast<std::uint64_t>(function) << 32 ^ peer));
  return value != 0 ? value : 1;
}

std::uint64_t count(std::uint64_t fingerprint) noexcept {
  for (std::size_t i = 0; i < kMaxProbes; ++i) {
    Counter& counter = counters[(fingerprint + i) % kCounters];
    std::uint64_t present = counter.fingerprint.load(std::memory_order_relaxed);
    if (present == 0 && counter.fingerprint.compare_exchange_strong(present, fingerprint, std::memory_order_relaxed))
      present = fingerprint;
    if (present == fingerprint) return counter.count.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return 0;
}

std::uint64_t places_of(std::uint64_t schema) noexcept {
  for (std::size_t i = 0; i < kSchemas; ++i) {
    const Places& slot = places[(schema + i) % kSchemas];
    const std::uint64_t present = slot.schema.load(std::memory_order_acquire);
    if (present == schema) return slot.word.load(std::memory_order_acquire);
    if (present == 0) return 0;
  }
  return 0;
}

void remember_places(std::uint64_t schema, std::uint64_t word) noexcept {
  for (std::size_t i = 0; i < kSchemas; ++i) {
    Places& slot = places[(schema + i) % kSchemas];
    std::uint64_t present = slot.schema.load(std::memory_order_relaxed);
    if (present == 0 && slot.schema.compare_exchange_strong(present, schema, std::memory_order_acq_rel))
      present = schema;
    if (present == schema) {
      slot.word.store(word, std::memory_order_release);
      return;
    }
  }
}

// `bytes` wide at `offset` of the payload; false if it does not reach so far. The caller's memory, read before the
// callback returns.
template <typename Value>
bool read_at(const nvtxPayloadData_t& data, std::uint64_t offset, Value* value) noexcept {
  const std::size_t bytes = data.size == SIZE_MAX ? static_payload_bytes(data.schemaId) : data.size;
  if (data.payload == nullptr || bytes < sizeof *value || offset > bytes - sizeof *value) return false;
  std::memcpy(value, static_cast<const char*>(data.payload) + offset, sizeof *value);
  return true;
}

}  // namespace

void note_nccl_schema(std::uint64_t schema, const nvtxPayloadSchemaEntry_t* entries, std::size_t entry_count) noexcept {
  std::uint64_t communicator = 0;
  std::uint64_t peer = 0;
  for (std::size_t i = 0; i < entry_count; ++i) {
    const nvtxPayloadSchemaEntry_t& entry = entries[i];
    if (entry.name == nullptr) continue;
    const bool is_placed = i == 0 || entry.offset != 0;  // else by natural alignment, which NCCL does not leave to us
    if (std::strcmp(entry.name, kCommunicatorEntry) == 0 && entry.type == NVTX_PAYLOAD_ENTRY_TYPE_UINT64 && is_placed) {
      communicator = place(entry.offset);
    } else if (std::strcmp(entry.name, kPeerEntry) == 0) {
      // Without the peer's place calls to all peers would be counted as one.
      if (entry.type != NVTX_PAYLOAD_ENTRY_TYPE_INT || !is_placed) return;
      peer = place(entry.offset);
    }
  }
  if (schema != 0 && communicator != 0) remember_places(schema, peer << 32 | communicator);
}

std::uint64_t count_nccl_call(spool::StringId function, const nvtxPayloadData_t* payloads,
                              std::size_t payload_count) noexcept {
  if (function == spool::kNoString || function == spool::kLostString || payloads == nullptr || payload_count == 0)
    return 0;
  const nvtxPayloadData_t& data = payloads[0];  // NCCL gives one
  const std::uint64_t word = places_of(data.schemaId);
  const std::uint64_t communicator_place = word & UINT32_MAX;
  const std::uint64_t peer_place = word >> 32;
  std::uint64_t communicator = 0;
  int peer = -1;
  if (communicator_place == 0 || !read_at(data, communicator_place - 1, &communicator) || communicator == 0) return 0;
  if (peer_place != 0 && !read_at(data, peer_place - 1, &peer)) return 0;
  return count(fingerprint_of(function, communicator, static_cast<std::uint32_t>(peer)));
}

}  // namespace jaxprof::nvtx
