// Why somebody was late: what of its own time exceeded that of its peers, split by what the GPU did then. A cause is
// named only where it covers most of the excess; else the split is all that is said.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "merge/study/own_time.h"

namespace jaxprof::study {

enum class Cause : std::uint8_t { kNone, kCompute, kHost, kCopy, kNetwork, kUnattributed };
std::string_view word(Cause cause);  // "", "compute", "host", "copy", "network", "unattributed"

// A cause must cover this much of the excess to be named.
inline constexpr double kNamedShare = 0.8;

// Excess over the median of the peers, ns; each may be negative.
struct CauseSplit {
  std::int64_t compute_ns = 0;
  std::int64_t host_ns = 0;
  std::int64_t copy_ns = 0;
  std::int64_t rest_ns = 0;
  std::int64_t sum_ns() const;
  void add(const CauseSplit& other);
};

// What the split says: the cause and its share of the excess, at most 1; kUnattributed with the largest share where
// none reaches kNamedShare; kNone where there is no excess.
struct NamedCause {
  Cause cause = Cause::kNone;
  double share = 0;
};
NamedCause name_cause(const CauseSplit& split);

// Excess of each lane in each step, [step, lane]. Peers are the lanes that took part in as many operations in that
// step; of a lane without peers nothing is known, which is zeros. Where no launches were recorded, idle time counts as
// the host's as far as the host's calls were later than those of its peers.
std::vector<CauseSplit> excess_over_peers(const OwnTime& own);

}  // namespace jaxprof::study
