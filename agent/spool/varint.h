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

// Seven-bit groups of a value moved apart, to the low bits of one byte each: of one below 2^28, of two such in the
// halves of a register at once, of one below 2^56.
constexpr std::uint32_t spread_28(std::uint32_t value) noexcept {
  value += 3 * (value & 0x0fffc000);
  return value + (value & 0x3f803f80);
}
constexpr std::uint64_t spread_two_28(std::uint64_t values) noexcept {
  values += 3 * (values & 0x0fffc0000fffc000);
  return values + (values & 0x3f803f803f803f80);
}
constexpr std::uint64_t spread_56(std::uint64_t value) noexcept {
  return spread_two_28(value + 15 * (value & 0x00fffffff0000000));
}

// The top bits of all bytes but the last, by the number of bytes before the last.
inline constexpr std::uint64_t kMoreBits[8] = {0,          0x80,         0x8080,         0x808080,
                                               0x80808080, 0x8080808080, 0x808080808080, 0x80808080808080};

// Writes a varint whose groups have been spread; 4 or 8 bytes at `out`, of which those behind the returned position
// mean nothing. Little-endian, as all of a spool is.
inline std::uint8_t* put_spread(std::uint8_t* out, std::uint32_t spread) noexcept {
  const auto before_last = static_cast<unsigned>(31 ^ __builtin_clz(spread | 1)) / 8;
  spread |= static_cast<std::uint32_t>(kMoreBits[before_last]);
  std::memcpy(out, &spread, sizeof spread);
  return out + before_last + 1;
}
inline std::uint8_t* put_spread(std::uint8_t* out, std::uint64_t spread) noexcept {
  const auto before_last = static_cast<unsigned>(63 ^ __builtin_clzll(spread | 1)) / 8;
  spread |= kMoreBits[before_last];
  std::memcpy(out, &spread, sizeof spread);
  return out + before_last + 1;
}

// put_varint() without a branch a byte, for values whose length cannot be foretold. Writes 4 or 8 bytes at `out`, or up
// to kMaxVarintBytes, of which those behind the returned position mean nothing.
inline std::uint8_t* put_varint_wide(std::uint8_t* out, std::uint64_t value) noexcept {
  if (value < std::uint64_t{1} << 28) [[likely]]
    return put_spread(out, spread_28(static_cast<std::uint32_t>(value)));
  if (value >= std::uint64_t{1} << 56) [[unlikely]]
    return put_varint(out, value);
  return put_spread(out, spread_56(value));
}

// A number below 2^49 that is written again and again, as the varint that was made of it once: its bytes from the
// lowest on, and their count in the highest. Without a number it writes nothing.
class MadeVarint {
 public:
  constexpr MadeVarint() noexcept = default;
  constexpr explicit MadeVarint(std::uint64_t value) noexcept {
    const std::uint64_t spread = spread_56(value);
    const auto before_last = static_cast<unsigned>(63 ^ __builtin_clzll(spread | 1)) / 8;
    word_ = spread | kMoreBits[before_last] | std::uint64_t{before_last + 1} << kCountShift;
  }
  // A number below 2^32.
  constexpr std::uint32_t value() const noexcept {
    std::uint64_t value = 0;
    for (unsigned i = 0; i < word_ >> kCountShift; ++i) value |= (word_ >> (8 * i) & 0x7f) << (7 * i);
    return static_cast<std::uint32_t>(value);
  }
  // Writes 8 bytes at `out`, of which those behind the returned position mean nothing.
  std::uint8_t* put(std::uint8_t* out) const noexcept {
    std::memcpy(out, &word_, sizeof word_);
    return out + (word_ >> kCountShift);
  }

 private:
  static constexpr unsigned kCountShift = 56;
  std::uint64_t word_ = 0;
};

// Varints of numbers that something counts: most have all but their lowest seven bits from the one before.
class CountedVarint {
 public:
  // Writes 9 bytes at `out`, or up to kMaxVarintBytes, of which those behind the returned position mean nothing.
  std::uint8_t* put(std::uint8_t* out, std::uint64_t value) noexcept {
    if (value >> 7 != upper_) [[unlikely]] {
      if (value < 0x80 || value >> 56 != 0) return put_varint(out, value);
      upper_ = value >> 7;
      made_ = MadeVarint(upper_);
    }
    *out = static_cast<std::uint8_t>(value | 0x80);
    return made_.put(out + 1);
  }

 private:
  std::uint64_t upper_ = UINT64_MAX;  // of the one before; nothing's, at first
  MadeVarint made_;                   // of it
};

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

// Seven-bit groups that lie in a byte each, back side by side: the inverse of spread_56(). Top bits must be 0.
constexpr std::uint64_t gather_56(std::uint64_t spread) noexcept {
  spread = (spread & 0x007f007f007f007f) | (spread & 0x7f007f007f007f00) >> 1;
  spread = (spread & 0x00003fff00003fff) | (spread & 0x3fff00003fff0000) >> 2;
  return (spread & 0x000000000fffffff) | (spread & 0x0fffffff00000000) >> 4;
}

// get_varint() without a branch a byte, for values whose length cannot be foretold. 8 bytes at `at` must be readable;
// null if the integer is longer than these.
inline const std::uint8_t* get_varint_wide(const std::uint8_t* at, std::uint64_t* value) noexcept {
  if (*at < 0x80) {
    *value = *at;
    return at + 1;
  }
  constexpr std::uint64_t kTopBits = 0x8080808080808080;
  std::uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  const std::uint64_t ends = ~word & kTopBits;
  if (ends == 0) return nullptr;
  *value = gather_56(word & (ends ^ (ends - 1)) & ~kTopBits);  // up to the first end
  return at + static_cast<unsigned>(__builtin_ctzll(ends)) / 8 + 1;
}

constexpr std::uint64_t fold_sign(std::int64_t value) noexcept {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}
constexpr std::int64_t unfold_sign(std::uint64_t folded) noexcept {
  return static_cast<std::int64_t>((folded >> 1) ^ (0 - (folded & 1)));
}

}  // namespace jaxprof::spool
