// The last two places with the same hash of the next bytes, and the last distance. Where nothing is found for long,
// steps grow.
#include "merge/runfile/plane_matches.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace jaxprof::runfile {
namespace {

constexpr unsigned kHashBits = 15;
constexpr std::size_t kMaxDistance = 32'768;
constexpr std::size_t kMaxLength = 258;
constexpr std::size_t kGoodLength = 32;  // that no better match is looked for
constexpr std::size_t kMisses = 32;      // that make the step longer by one
constexpr std::size_t kMaxStep = 32;

std::uint64_t load(const std::byte* at) {
  std::uint64_t word;
  std::memcpy(&word, at, sizeof word);
  return word;
}

// How many bytes from `at` on are as those from `before` on; `end` is the end of both.
std::size_t common_length(const std::byte* at, const std::byte* before, const std::byte* end) {
  const std::byte* const begin = at;
  for (; end - at >= 8; at += 8, before += 8) {
    if (const std::uint64_t differ = load(at) ^ load(before); differ != 0) {
      return static_cast<std::size_t>(at - begin) + static_cast<std::size_t>(std::countr_zero(differ)) / 8;
    }
  }
  while (at < end && *at == *before) ++at, ++before;
  return static_cast<std::size_t>(at - begin);
}

}  // namespace

std::span<const Match> MatchFinder::find(std::span<const std::byte> bytes, std::size_t least_length) {
  last_.assign(std::size_t{2} << kHashBits, 0);
  matches_.clear();
  const std::byte* const begin = bytes.data();
  const std::byte* const end = begin + bytes.size();
  const unsigned unhashed_bits = least_length >= 8 ? 0 : static_cast<unsigned>(64 - 8 * least_length);
  const auto slot_of = [&](const std::byte* at) {
    return &last_[2 * (((load(at) << unhashed_bits) * 0x9E3779B97F4A7C15U) >> (64 - kHashBits))];
  };
  const auto put = [](std::uint32_t* slot, std::uint32_t position) {
    slot[1] = slot[0];
    slot[0] = position;
  };
  const auto position_of = [begin](const std::byte* at) { return static_cast<std::uint32_t>(at - begin); };
  const std::byte* literals = begin;
  const std::byte* at = begin;
  std::size_t distance = 1;
  std::size_t misses = 0;
  while (end - at >= 8) {
    std::uint32_t* const slot = slot_of(at);
    std::size_t length = position_of(at) >= distance ? common_length(at, at - distance, end) : 0;
    if (length < kGoodLength) {
      for (int way = 0; way < 2; ++way) {
        const std::size_t hashed_distance = position_of(at) + 1 - slot[way];
        if (slot[way] == 0 || hashed_distance > kMaxDistance) break;
        const std::size_t hashed_length = common_length(at, at - hashed_distance, end);
        if (hashed_length > length && hashed_length >= least_length) {
          length = hashed_length;
          distance = hashed_distance;
        }
      }
    }
    put(slot, position_of(at) + 1);
    if (length < least_length) {
      at += std::min<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(1 + std::min(misses++ / kMisses, kMaxStep)), end - at);
      continue;
    }
    misses = 0;
    auto n_literals = static_cast<std::uint32_t>(at - literals);
    const std::byte* const match_end = at + length;
    for (; length > 0; n_literals = 0) {
      // No rest shorter than a match can be.
      const std::size_t taken = length > kMaxLength ? std::min(kMaxLength, length - 3) : length;
      matches_.push_back({n_literals, static_cast<std::uint16_t>(taken), static_cast<std::uint16_t>(distance - 1)});
      length -= taken;
    }
    const auto stride = std::max<std::ptrdiff_t>(1, (match_end - at) / 16);
    for (at += 1; at < match_end && end - at >= 8; at += stride) put(slot_of(at), position_of(at) + 1);
    literals = at = match_end;
  }
  if (literals < end) matches_.push_back({static_cast<std::uint32_t>(end - literals), 0, 0});
  return matches_;
}

}  // namespace jaxprof::runfile
