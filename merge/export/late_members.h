// Who came late to which collective, for a trace: found in the arrivals of the lateness study, which are those of the
// whole run, so that a rank is late in comparison with all others, exported or not.
#pragma once

#include <cstdint>
#include <vector>

#include "merge/study/arrivals.h"

namespace jaxprof::exporting {

// A member that came after half of the members of its instance, and more than kSignificantNs after the first one.
struct LateMember {
  std::int64_t first_ns = 0;   // first arrival of the instance
  std::int64_t start_ns = 0;   // its own
  std::uint64_t call = 0;      // row of /events/nccl
  std::uint64_t instance = 0;  // row of /collectives
  bool is_resolved = false;    // first and last are apart by more than 3 sigma of the clocks
  bool is_certain = false;     // … by more than the clocks can be wrong
};

class LateMembers {
 public:
  // Of the instances of which all recorded members, two at least, are there.
  LateMembers(const study::Arrivals& arrivals, std::size_t n_processes);

  // By arrival of the first, then of the member.
  const std::vector<LateMember>& of_process(std::size_t process) const { return by_process_[process]; }

 private:
  std::vector<std::vector<LateMember>> by_process_;
};

}  // namespace jaxprof::exporting
