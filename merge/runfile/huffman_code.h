// A prefix code for symbols that are counted: frequent ones get few bits. Deflate (RFC 1951) wants codes of limited
// length that follow from their lengths alone.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace jaxprof::runfile {

struct HuffmanCode {
  static constexpr std::size_t kMaxSymbols = 288;

  std::array<std::uint16_t, kMaxSymbols> bits;  // of each symbol, in the order in which deflate puts them
  std::array<std::uint8_t, kMaxSymbols> lengths;

  // Of symbols that occur; others have length 0. With fewer than two that occur, the first two have codes: a decoder
  // may refuse less. `counts` add up to less than 2^31.
  void build(std::span<const std::uint32_t> counts, unsigned max_length);
  // Bits that `counts` symbols take.
  std::uint64_t cost(std::span<const std::uint32_t> counts) const;
};

}  // namespace jaxprof::runfile
