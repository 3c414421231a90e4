// LEB128 integers, the spool's unit of compactness: seven bits a byte, least significant first, the top bit set on all
// but the last byte. Signed values are folded (0, -1, 1, -2, …) so that small ones of either sign stay short.
// Agent-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

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

// The same without a branch a byte, for values whose length cannot be foretold: seven-bit groups are moved apart in one
// register. Writes 4 or 8 bytes at `out`, or up to kMaxVarintBytes, of which those behind the returned position mean
// nothing.
inline std::uint8_t* put_varint_wide(std::uint8_t* out, std::uint64_t value) noexcept {
  if (value < std::uint64_t{1} << 28) [[likely]] {
    auto spread = static_cast<std::uint32_t>(value);
    const auto more = static_cast<unsigned>(31 - __builtin_clz(spread | 1)) / 7;
    spread = (spread & 0x3fff) | (spread & 0xfffc000) << 2;
    spread = (spread & 0x007f007f) | (spread & 0x3f803f80) << 1;
    spread |= 0x808080U & ((1U << (8 * more)) - 1);
    std::memcpy(out, &spread, sizeof spread);  // little-endian, as all of a spool is
    return out + more + 1;
  }
  if (value >= std::uint64_t{1} << 56) [[unlikely]]
    return put_varint(out, value);
  const auto length = static_cast<unsigned>((63 - __builtin_clzll(value | 1)) / 7 + 1);
  std::uint64_t spread = (value & 0x0fffffff) | (value & 0xfffffff0000000) << 4;
  spread = (spread & 0x00003fff00003fff) | (spread & 0x0fffc0000fffc000) << 2;
  spread = (spread & 0x007f007f007f007f) | (spread & 0x3f803f803f803f80) << 1;
  spread |= 0x8080808080808080U & ((std::uint64_t{1} << (8 * (length - 1))) - 1);
  std::memcpy(out, &spread, sizeof spread);
  return out + length;
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
