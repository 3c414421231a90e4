// Do packets get through between the nodes of a job? That shows only if they meet: each is started at about the same
// time, with one folder that all of them see, stays for some seconds, and asks the nodes that it finds there as it
// would in a run. Then it tells who answered. For people before a run; nothing is measured here that a run would use.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "netsampler/clock/probing.h"

namespace jaxprof::netsampler {

// A node that was asked.
struct MetNode {
  std::string host;
  std::string address;
  std::uint64_t n_asked = 0;
  std::uint64_t n_answered = 0;
  std::int64_t round_trip_ns = -1;  // the least, without the time in the other node; by kernel stamps where there are
  bool operator==(const MetNode&) const = default;
};

struct ClockMeeting {
  std::uint64_t n_others = 0;  // nodes that came; up to five of them are asked
  std::vector<MetNode> asked;  // by host
  std::string reason;          // why there was no meeting; "" if there was one
  bool is_anothers = false;    // another process of this node takes the node's part; nobody was asked
};

// Takes `length_ns`, or no time if another process of this node takes part. `settings.state_directory` must exist, for
// this user alone or not; the last node that leaves takes what they needed there away. What somebody left there who was
// killed in a meeting is not asked, or is not told of if it turns out later, and goes.
ClockMeeting meet(const ProbingSettings& settings, std::int64_t length_ns);

// Of one exchange, from kernel stamps if it has them all, else from the programs' own; -1 without either.
std::int64_t round_trip_ns(const spool::ProbeExchange& exchange);

}  // namespace jaxprof::netsampler
