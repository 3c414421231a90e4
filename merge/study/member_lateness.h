// How late each member of a collective came: after the first, against the middle, and by its own doing. Columns beside
// ArrivalMembers, ns.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "merge/study/arrivals.h"

namespace jaxprof::study {

// Spreads of less are of no interest, whatever the clocks.
inline constexpr std::int64_t kSignificantNs = 10'000;

inline constexpr std::int64_t kNoLateness = std::numeric_limits<std::int64_t>::min();

struct MemberLateness {
  std::vector<std::int64_t> after_first_ns;  // L: own arrival - first arrival
  std::vector<std::int64_t> off_middle_ns;   // l: own arrival - median arrival
  std::vector<std::int64_t> self_ns;  // q: own time before it - the members' median of that; kNoLateness: unknown
};

// Of the instances with is_counted; kNoLateness for the others.
MemberLateness member_lateness(const Arrivals& arrivals, const std::vector<std::uint8_t>& is_counted);

// By instance: how far apart arrivals must be for its clocks to tell them apart, 3 sigma, or the bound if no sigma is
// known; 0 on one node, -1 where nothing is known.
std::vector<std::int64_t> resolutions_ns(const runfile::RunTables& run, const Arrivals& arrivals);

// Which instances are judged: those asked for of which all members are there, two or more; where there is none, those
// of which all recorded members are.
struct Judged {
  std::vector<std::uint8_t> is_counted;  // by instance
  std::size_t n = 0;
  bool lacks_members = false;    // of the second kind
  std::size_t n_asked = 0;       // asked for, judged or not
  std::size_t n_unresolved = 0;  // of n
};
Judged judged_instances(const Arrivals& arrivals);

// The median of ascending or unordered values, at least one; of an even number the mean of the middle two, rounded
// down.
std::int64_t median_ns(std::vector<std::int64_t>& values);

}  // namespace jaxprof::study
