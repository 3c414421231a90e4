// The secret of a run: who has it may ask the nodes of the run for their clocks, and is believed. 32 random bytes in a
// file of the run's state folder that only the run's user can read. The first observer makes it, by link(2), and all
// others read the winner's. It is never in an argument, an environment, a log or a message.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "agent/base/result.h"

namespace jaxprof::netsampler {

inline constexpr std::size_t kTokenBytes = 32;
using ClockToken = std::array<std::uint8_t, kTokenBytes>;

// The token of the file `path`, which is made if it is not there. kNodeNotReady with the reason if it can neither be
// made nor read, or if the file is another user's (but for one whom the file server maps this one to), can be read by
// others, is a link or has not kTokenBytes: then nothing is believed, and nothing is replaced.
Result<ClockToken> take_clock_token(const std::string& path);

}  // namespace jaxprof::netsampler
