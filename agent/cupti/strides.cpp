#include "agent/cupti/strides.h"

namespace jaxprof::cupti {
namespace {

constexpr std::size_t kProbeBytes = 4096;  // the longest record known takes 208

std::uint32_t distance_of(Subscriber* subscriber, std::uint32_t kind) noexcept {
  alignas(8) std::uint32_t words[kProbeBytes / 4];
  for (std::uint32_t& word : words) word = kind;
  auto* buffer = reinterpret_cast<std::uint8_t*>(words);
  void* record = nullptr;
  if (subscriber->next_record(buffer, sizeof words, &record) != abi::kSuccess) return 0;
  const auto* first = static_cast<const std::uint8_t*>(record);
  if (subscriber->next_record(buffer, sizeof words, &record) != abi::kSuccess) return 0;
  const std::ptrdiff_t distance = static_cast<const std::uint8_t*>(record) - first;
  return distance >= 8 && distance <= static_cast<std::ptrdiff_t>(kProbeBytes / 2)
             ? static_cast<std::uint32_t>(distance)
             : 0;
}

std::uint32_t kind_at(const std::uint8_t* at) noexcept {
  std::uint32_t kind;
  std::memcpy(&kind, at, sizeof kind);
  return kind;
}

}  // namespace

bool Strides::probe(Subscriber* subscriber) noexcept {
  bool has_changed = false;
  for (std::uint32_t kind = 1; kind < kKinds; ++kind) {
    const std::uint32_t bytes = distance_of(subscriber, kind);
    has_changed |= bytes != of(kind);
    bytes_[kind].store(bytes, std::memory_order_relaxed);
  }
  return has_changed;
}

std::uint64_t Strides::count(const std::uint8_t* buffer, std::size_t bytes) const noexcept {
  std::uint64_t records = 0;
  for (std::size_t at = 0; at + sizeof(std::uint32_t) <= bytes; ++records) {
    const std::uint32_t stride = of(kind_at(buffer + at));
    if (stride == 0 || at + stride > bytes) break;
    at += stride;
  }
  return records;
}

}  // namespace jaxprof::cupti
