// What comes again in a plane of bytes: the greedy half of deflate. Planes of a trace are of few kinds: noise, where
// looking must be cheap; runs; patterns that come again at the same distance, a step later; and few values in no order,
// where a match must be long to be worth more than the bytes' own codes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace jaxprof::runfile {

// `n_literals` bytes as they are, then `length` bytes that stand `distance` before. The last one may have length 0.
struct Match {
  std::uint32_t n_literals;
  std::uint16_t length;    // 3 to 258
  std::uint16_t distance;  // 1 to 32,768, less one
};

class MatchFinder {
 public:
  // Matches of at least `least_length` (4 to 64), so that all of `bytes` is covered. Valid until the next call. Depends
  // on the bytes alone.
  std::span<const Match> find(std::span<const std::byte> bytes, std::size_t least_length);

 private:
  std::vector<std::uint32_t> last_;  // positions after the last two with each hash; 0: none
  std::vector<Match> matches_;
};

}  // namespace jaxprof::runfile
