// RFC 1950 and 1951. A block's codes are made from what is in it; which kind of block is the shortest is known to the
// bit before it is written.
#include "merge/runfile/plane_deflater.h"

#include <libdeflate.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace jaxprof::runfile {
namespace {

constexpr std::size_t kMaxStored = 65'535;
constexpr std::size_t kSmall = 4096;  // bytes that are one block, whatever planes are in them
constexpr unsigned kMaxLength = 15;
constexpr unsigned kEndOfBlock = 256;
constexpr unsigned kFirstLength = 257;
constexpr std::size_t kLiteralSymbols = 286;
constexpr std::size_t kDistanceSymbols = 30;
constexpr std::size_t kLengthSymbols = 19;
constexpr unsigned kMaxLengthLength = 7;
// The order in which the lengths of the lengths' code are sent.
constexpr std::array<std::uint8_t, kLengthSymbols> kLengthOrder = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                                   11, 4,  12, 3, 13, 2, 14, 1, 15};

// A number as a symbol and some bits behind it.
struct Split {
  std::uint16_t symbol;
  std::uint8_t n_extra;
  std::uint16_t extra;
};

// `value` counts from 0 in steps that double every `1 << log_steps` symbols.
constexpr Split split(unsigned value, unsigned log_steps) {
  const unsigned steps = 1U << log_steps;
  if (value < 2 * steps) return {static_cast<std::uint16_t>(value), 0, 0};
  const auto n_extra = static_cast<unsigned>(std::bit_width(value)) - 1 - log_steps;
  const unsigned symbol = (n_extra << log_steps) + (value >> n_extra);
  return {static_cast<std::uint16_t>(symbol), static_cast<std::uint8_t>(n_extra),
          static_cast<std::uint16_t>(value & ((1U << n_extra) - 1))};
}

constexpr Split split_length(unsigned length) {
  if (length == 258) return {285, 0, 0};
  Split of = split(length - 3, 2);
  of.symbol = static_cast<std::uint16_t>(of.symbol + kFirstLength);
  return of;
}

constexpr auto kLengthSplits = [] {
  std::array<Split, 259> splits{};
  for (unsigned length = 3; length < splits.size(); ++length) splits[length] = split_length(length);
  return splits;
}();

constexpr Split split_distance(unsigned distance_less_one) {
  return split(distance_less_one, 1);
}

using Counts = std::array<std::uint32_t, HuffmanCode::kMaxSymbols>;

bool is_constant(std::span<const std::byte> bytes) {
  return bytes.size() < 2 || std::memcmp(bytes.data(), bytes.data() + 1, bytes.size() - 1) == 0;
}

struct BlockCounts {
  Counts literals{};  // and lengths, and the end
  Counts distances{};
  std::uint64_t extra_bits = 0;
};

// Four tables, since the same byte often comes twice in a row and would wait for itself.
Counts count_bytes(std::span<const std::byte> bytes) {
  Counts sum{};
  sum[kEndOfBlock] = 1;
  if (is_constant(bytes)) {
    if (!bytes.empty()) sum[static_cast<std::uint8_t>(bytes[0])] = static_cast<std::uint32_t>(bytes.size());
    return sum;
  }
  std::array<std::array<std::uint32_t, 256>, 4> counts{};
  std::size_t i = 0;
  for (; i + 4 <= bytes.size(); i += 4) {
    ++counts[0][static_cast<std::uint8_t>(bytes[i])];
    ++counts[1][static_cast<std::uint8_t>(bytes[i + 1])];
    ++counts[2][static_cast<std::uint8_t>(bytes[i + 2])];
    ++counts[3][static_cast<std::uint8_t>(bytes[i + 3])];
  }
  for (; i < bytes.size(); ++i) ++counts[0][static_cast<std::uint8_t>(bytes[i])];
  for (std::size_t value = 0; value < 256; ++value) {
    sum[value] = counts[0][value] + counts[1][value] + counts[2][value] + counts[3][value];
  }
  return sum;
}

BlockCounts count_matches(std::span<const std::byte> bytes, std::span<const Match> matches) {
  BlockCounts counts;
  std::size_t at = 0;
  for (const Match& match : matches) {
    for (const std::byte byte : bytes.subspan(at, match.n_literals)) ++counts.literals[static_cast<std::uint8_t>(byte)];
    at += match.n_literals + match.length;
    if (match.length == 0) continue;
    const Split length = kLengthSplits[match.length];
    const Split distance = split_distance(match.distance);
    ++counts.literals[length.symbol];
    ++counts.distances[distance.symbol];
    counts.extra_bits += length.n_extra + distance.n_extra;
  }
  counts.literals[kEndOfBlock] = 1;
  return counts;
}

// A block's two codes and how they are told: their lengths, with repeats as symbols of their own, in a third code.
class Codes {
 public:
  explicit Codes(const BlockCounts& counts) {
    literals_.build(std::span(counts.literals).first(kLiteralSymbols), kMaxLength);
    distances_.build(std::span(counts.distances).first(kDistanceSymbols), kMaxLength);
    n_literals_ = used(literals_, kLiteralSymbols, kFirstLength);
    n_distances_ = used(distances_, kDistanceSymbols, 1);
    std::array<std::uint8_t, kLiteralSymbols + kDistanceSymbols> lengths;
    std::copy_n(literals_.lengths.begin(), n_literals_, lengths.begin());
    std::copy_n(distances_.lengths.begin(), n_distances_, lengths.begin() + static_cast<std::ptrdiff_t>(n_literals_));
    shorten(std::span(lengths).first(n_literals_ + n_distances_));
    bits_ = 3 + 14 + 3 * n_lengths_ + literals_.cost(counts.literals) + distances_.cost(counts.distances) +
            counts.extra_bits;
    for (const Split& length : told_) bits_ += lengths_.lengths[length.symbol] + length.n_extra;
  }

  const HuffmanCode& literals() const { return literals_; }
  const HuffmanCode& distances() const { return distances_; }
  // Of the whole block.
  std::uint64_t bits() const { return bits_; }

  void tell(BitWriter& out, bool is_last) const {
    out.put(is_last ? 1U : 0U, 1);
    out.put(2, 2);
    out.put(n_literals_ - kFirstLength, 5);
    out.put(n_distances_ - 1, 5);
    out.put(n_lengths_ - 4, 4);
    out.flush();
    for (std::size_t i = 0; i < n_lengths_; ++i) {
      out.put(lengths_.lengths[kLengthOrder[i]], 3);
      out.flush();
    }
    for (const Split& length : told_) {
      out.put(lengths_.bits[length.symbol], lengths_.lengths[length.symbol]);
      out.put(length.extra, length.n_extra);
      out.flush();
    }
  }

 private:
  static std::size_t used(const HuffmanCode& code, std::size_t n, std::size_t least) {
    while (n > least && code.lengths[n - 1] == 0) --n;
    return n;
  }

  // 16: the one before 3 to 6 times; 17: zero 3 to 10 times; 18: zero 11 to 138 times.
  void shorten(std::span<const std::uint8_t> lengths) {
    for (std::size_t i = 0; i < lengths.size();) {
      const auto same = [&] {
        std::size_t end = i;
        while (end < lengths.size() && lengths[end] == lengths[i]) ++end;
        return end - i;
      }();
      std::size_t rest = same;
      const auto tell_run = [&](std::uint16_t symbol, std::uint8_t n_extra, std::size_t least, std::size_t most) {
        while (rest >= least) {
          const std::size_t run = std::min(rest, most);
          told_.push_back({symbol, n_extra, static_cast<std::uint16_t>(run - least)});
          rest -= run;
        }
      };
      if (lengths[i] == 0) {
        tell_run(18, 7, 11, 138);
        tell_run(17, 3, 3, 10);
      } else {
        told_.push_back({lengths[i], 0, 0});
        --rest;
        tell_run(16, 2, 3, 6);
      }
      for (; rest > 0; --rest) told_.push_back({lengths[i], 0, 0});
      i += same;
    }
    std::array<std::uint32_t, kLengthSymbols> counts{};
    for (const Split& length : told_) ++counts[length.symbol];
    lengths_.build(counts, kMaxLengthLength);
    while (n_lengths_ > 4 && lengths_.lengths[kLengthOrder[n_lengths_ - 1]] == 0) --n_lengths_;
  }

  HuffmanCode literals_;
  HuffmanCode distances_;
  HuffmanCode lengths_;
  std::size_t n_literals_ = 0;
  std::size_t n_distances_ = 0;
  std::size_t n_lengths_ = kLengthSymbols;
  std::vector<Split> told_;
  std::uint64_t bits_ = 0;
};

void put_literals(BitWriter& out, std::span<const std::byte> bytes, const HuffmanCode& code) {
  std::size_t i = 0;
  const auto put = [&] {
    const auto symbol = static_cast<std::uint8_t>(bytes[i++]);
    out.put(code.bits[symbol], code.lengths[symbol]);
  };
  while (i + 3 <= bytes.size()) {  // 45 bits at most
    put();
    put();
    put();
    out.flush();
  }
  for (; i < bytes.size(); out.flush()) put();
}

void put_block(BitWriter& out, std::span<const std::byte> bytes, std::span<const Match> matches, const Codes& codes,
               bool is_last) {
  codes.tell(out, is_last);
  std::size_t at = 0;
  for (const Match& match : matches) {
    put_literals(out, bytes.subspan(at, match.n_literals), codes.literals());
    at += match.n_literals + match.length;
    if (match.length == 0) continue;
    const Split length = kLengthSplits[match.length];
    const Split distance = split_distance(match.distance);
    out.put(codes.literals().bits[length.symbol], codes.literals().lengths[length.symbol]);
    out.put(length.extra, length.n_extra);
    out.flush();
    out.put(codes.distances().bits[distance.symbol], codes.distances().lengths[distance.symbol]);
    out.put(distance.extra, distance.n_extra);
    out.flush();
  }
  out.put(codes.literals().bits[kEndOfBlock], codes.literals().lengths[kEndOfBlock]);
  out.flush();
}

void put_stored(BitWriter& out, std::span<const std::byte> bytes, bool is_last) {
  do {
    const auto piece = bytes.first(std::min(bytes.size(), kMaxStored));
    bytes = bytes.subspan(piece.size());
    out.put(is_last && bytes.empty() ? 1U : 0U, 1);
    out.put(0, 2);
    out.flush();
    out.align();
    out.put(piece.size(), 16);
    out.put(~piece.size() & 0xFFFFU, 16);
    out.align();
    out.copy(piece);
  } while (!bytes.empty());
}

std::uint64_t stored_bits(std::size_t n_bytes) {
  return 8 * (n_bytes + 5 * (n_bytes / kMaxStored + 1));
}

}  // namespace

void PlaneDeflater::add_block(BitWriter& out, std::span<const std::byte> bytes, bool is_last) {
  BlockCounts singly;
  singly.literals = count_bytes(bytes);
  const Codes single_codes{singly};
  // A match costs about 20 bits: shorter ones than that in single codes are not worth it.
  const std::uint64_t bits_a_byte =
      std::max<std::uint64_t>(1, single_codes.bits() / std::max<std::size_t>(1, bytes.size()));
  const auto matches = finder_.find(bytes, std::clamp<std::uint64_t>(20 / bits_a_byte, 4, 16));
  const std::uint64_t least_bits = std::min(single_codes.bits(), stored_bits(bytes.size()));
  const bool has_matches = matches.size() > 1 || (!matches.empty() && matches[0].length > 0);
  if (has_matches) {
    const Codes codes{count_matches(bytes, matches)};
    if (codes.bits() < least_bits) return put_block(out, bytes, matches, codes, is_last);
  }
  if (single_codes.bits() >= stored_bits(bytes.size())) return put_stored(out, bytes, is_last);
  const Match all{static_cast<std::uint32_t>(bytes.size()), 0, 0};
  put_block(out, bytes, {&all, 1}, single_codes, is_last);
}

std::span<const std::byte> PlaneDeflater::deflate(std::span<const std::byte> bytes, std::size_t plane_bytes) {
  if (bytes.size() <= kSmall) plane_bytes = bytes.size();
  const std::size_t n_planes = plane_bytes == 0 ? 1 : bytes.size() / plane_bytes;
  // Every block is at most as long as stored; each plane may begin and end within a byte.
  const std::size_t room = stored_bits(bytes.size()) / 8 + 16 * n_planes + 32;
  if (out_.size() < room) out_.resize(room);
  out_[0] = std::byte{0x78};
  out_[1] = std::byte{0x01};
  BitWriter out{out_.data() + 2};
  std::span<const std::byte> constants;  // planes behind each other that are one block
  for (std::size_t i = 0; i < n_planes; ++i) {
    const auto plane = bytes.subspan(i * plane_bytes, plane_bytes);
    const bool is_last = i + 1 == n_planes;
    if (n_planes > 1 && is_constant(plane)) {
      constants = constants.empty() ? plane : std::span(constants.data(), constants.size() + plane.size());
      if (is_last) add_block(out, constants, true);
      continue;
    }
    if (!constants.empty()) add_block(out, std::exchange(constants, {}), false);
    add_block(out, plane, is_last);
  }
  out.align();
  std::byte* next = out.next();
  const std::uint32_t sum = libdeflate_adler32(1, bytes.data(), bytes.size());
  for (int shift = 24; shift >= 0; shift -= 8) *next++ = static_cast<std::byte>(sum >> shift);
  return {out_.data(), next};
}

}  // namespace jaxprof::runfile
