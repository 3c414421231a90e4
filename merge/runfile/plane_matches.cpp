// The last two places with the same hash of the next bytes, and the last distance. Where nothing is found for long,
// steps grow; how long a step is depends on the bytes that it begins at, so that when they come again the steps soon
// fall on the same places.
#include "merge/runfile/plane_matches.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace jaxprof::runfile {
namespace {

constexpr unsigned kHashBits = 15;
constexpr std::size_t kWays = 2;  // places with one hash
constexpr std::size_t kMaxDistance = 32'768;
constexpr std::size_t kMaxLength = 258;
constexpr std::size_t kLeastLength = 3;  // of any match in deflate
constexpr std::size_t kGoodLength = 32;  // that no better match is looked for
constexpr std::size_t kMisses = 16;      // that let steps be longer by one
constexpr std::size_t kMaxStep = 32;
constexpr std::ptrdiff_t kPlaces = 16;  // in a long match that are remembered

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

// One pass over one plane. Places are those with eight bytes behind them.
class Search {
 public:
  Search(std::span<const std::byte> bytes, std::size_t least_length, std::vector<std::uint32_t>& last)
      : begin_(bytes.data()),
        end_(bytes.data() + bytes.size()),
        least_length_(least_length),
        unhashed_bits_(least_length >= 8 ? 0 : static_cast<unsigned>(64 - 8 * least_length)),
        last_(last) {
    last_.assign(kWays << kHashBits, 0);
  }

  bool is_place(const std::byte* at) const { return end_ - at >= 8; }

  // The length of the best match at `at`, which is distance() before; 0: none is long enough. Remembers the place.
  std::size_t find(const std::byte* at) {
    const auto position = static_cast<std::size_t>(at - begin_);
    const std::uint64_t word = load(at);
    hash_ = hash_of(word);
    std::uint32_t* const slot = slot_of(hash_);
    std::size_t length = position >= distance_ ? length_at(at, word, distance_) : 0;
    for (std::size_t way = 0; way < kWays && length < kGoodLength; ++way) {
      const std::size_t distance = position + 1 - slot[way];
      if (slot[way] == 0 || distance > kMaxDistance) break;
      const std::size_t found = length_at(at, word, distance);
      if (found <= length) continue;
      length = found;
      distance_ = distance;
    }
    put(slot, position);
    return length;
  }
  std::size_t distance() const { return distance_; }

  // Bytes to the next place, after `misses` places without a match.
  std::ptrdiff_t step(std::size_t misses) const {
    const std::uint64_t most = std::min(1 + misses / kMisses, kMaxStep);
    return static_cast<std::ptrdiff_t>(1 + ((hash_ & 0xFFFF) * most >> 16));
  }

  // Places of a match that begins at `at`, the first of which is known.
  void remember(const std::byte* at, const std::byte* match_end) {
    const std::ptrdiff_t stride = std::max<std::ptrdiff_t>(1, (match_end - at) / kPlaces);
    for (++at; at < match_end && is_place(at); at += std::min(stride, match_end - at)) {
      put(slot_of(hash_of(load(at))), static_cast<std::size_t>(at - begin_));
    }
  }

 private:
  // 0 if it is too short, which most are: that costs one comparison.
  std::size_t length_at(const std::byte* at, std::uint64_t word, std::size_t distance) const {
    if ((word ^ load(at - distance)) << unhashed_bits_ != 0) return 0;
    const std::size_t length = common_length(at, at - distance, end_);
    return length < least_length_ ? 0 : length;
  }
  std::uint64_t hash_of(std::uint64_t word) const {
    const std::uint64_t mixed = (word << unhashed_bits_) * 0x9E3779B97F4A7C15U;
    return mixed ^ mixed >> 29;
  }
  std::uint32_t* slot_of(std::uint64_t hash) const { return &last_[kWays * (hash >> (64 - kHashBits))]; }
  static void put(std::uint32_t* slot, std::size_t position) {
    slot[1] = slot[0];
    slot[0] = static_cast<std::uint32_t>(position + 1);
  }

  const std::byte* begin_;
  const std::byte* end_;
  std::size_t least_length_;
  unsigned unhashed_bits_;  // of a word that are beyond the bytes that a match has to have
  std::vector<std::uint32_t>& last_;
  std::size_t distance_ = 1;
  std::uint64_t hash_ = 0;
};

}  // namespace

std::span<const Match> MatchFinder::find(std::span<const std::byte> bytes, std::size_t least_length) {
  matches_.clear();
  Search search{bytes, least_length, last_};
  const std::byte* const end = bytes.data() + bytes.size();
  const std::byte* literals = bytes.data();
  const std::byte* at = literals;
  std::size_t misses = 0;
  while (search.is_place(at)) {
    std::size_t length = search.find(at);
    if (length == 0) {
      at += std::min(search.step(misses++), end - at);
      continue;
    }
    misses = 0;
    auto n_literals = static_cast<std::uint32_t>(at - literals);
    literals = at + length;
    search.remember(at, literals);
    for (at = literals; length > 0; n_literals = 0) {
      const std::size_t taken = length > kMaxLength ? std::min(kMaxLength, length - kLeastLength) : length;
      matches_.push_back(
          {n_literals, static_cast<std::uint16_t>(taken), static_cast<std::uint16_t>(search.distance() - 1)});
      length -= taken;
    }
  }
  if (literals < end) matches_.push_back({static_cast<std::uint32_t>(end - literals), 0, 0});
  return matches_;
}

}  // namespace jaxprof::runfile
