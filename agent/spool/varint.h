// LEB128 integers, the spool's unit of compactness: seven bits a byte, least significant first, the top bit set on all
// but the last byte. Signed values are folded (0, -1, 1, -2, …) so that small ones of either sign stay short.
// Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>

namespace jaxprof::spool {

inline constexpr std::size_t kMaxVarintBytes = 10;

// Writes at most kMaxVarintBytes at `out` and returns the position behind them.
inline std::uint8_t* put_varint(std::uint8_t* out, std::uint64_t value) noexcept {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Reads one integer of `[at, end)`; null if it is cut off or longer than 64 bits.
inline const std::uint8_t* get_varint(const std::uint8_t* at, const std::uint8_t* end, std::uint64_t* value) noexcept {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at == end) return nullptr;
    const std::uint8_t byte = *at++;
    if (shift == 63 && byte > 1) return nullptr;
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if ((byte & 0x80) == 0) {
      *value = result;
      return at;
    }
  }
  return nullptr;
}

constexpr std::uint64_t fold_sign(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unfold_sign(std::uint64_t folded) noexcept {
  return static_cast<std::int64_t>((folded >> 1) ^ (0 - (folded & 1)));
}

}  // namespace jaxprof::spool
