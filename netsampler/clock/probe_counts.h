// What became of packets, counted from the engine's start, as spool::ClockPacketsState has it.
#pragma once

#include <cstdint>

namespace jaxprof::netsampler {

struct ProbeCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;  // all, with those of the next lines
  std::uint64_t wrong_size = 0;
  std::uint64_t wrong_mac = 0;     // or magic, version, type
  std::uint64_t wrong_node = 0;    // rightly made, for another node or by this one
  std::uint64_t replayed = 0;      // a request not later than one that was answered
  std::uint64_t rate_limited = 0;  // unread, for their sender sends too many
  std::uint64_t unpaired = 0;      // replies that nothing waits for; stamps of the kernel for nothing sent, too
  std::uint64_t send_failed = 0;
};

}  // namespace jaxprof::netsampler
