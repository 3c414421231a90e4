// At most 2000 packets a second from one address, over any second; who sends more is not read. What it remembers has a
// fixed size: addresses share places by a hash with a random key, so that nobody can choose whose place he fills.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "netsampler/clock/peer_address.h"

namespace jaxprof::netsampler {

inline constexpr std::int64_t kSourcePacketsPerSecond = 2000;

class SourceLimit {
 public:
  SourceLimit();
  // `now_ns` is of one clock that does not go back. Counts the packet if it is admitted.
  bool admits(const PeerAddress& source, std::int64_t now_ns);

 private:
  std::array<std::uint8_t, 16> key_;
  std::vector<std::int64_t> used_until_ns_;  // by hash: when all that was admitted is worked off
};

}  // namespace jaxprof::netsampler
