#include "merge/export/late_members.h"

#include <algorithm>
#include <tuple>

#include "merge/study/member_lateness.h"

namespace jaxprof::exporting {

using namespace study;

LateMembers::LateMembers(const Arrivals& arrivals, std::size_t n_processes) : by_process_(n_processes) {
  std::vector<std::uint8_t> is_counted(arrivals.size(), 0);
  for (std::size_t i = 0; i < arrivals.size(); ++i) is_counted[i] = arrivals.has(i, kArrivalAsRecorded) ? 1 : 0;
  const MemberLateness lateness = member_lateness(arrivals, is_counted);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (is_counted[i] == 0) continue;
    for (std::size_t member = arrivals.begin(i); member < arrivals.end(i); ++member) {
      if (lateness.after_first_ns[member] <= kSignificantNs || lateness.off_middle_ns[member] <= 0) continue;
      by_process_[arrivals.members.process[member]].push_back(
          {arrivals.instances.first_ns[i], arrivals.members.start_ns[member], arrivals.members.call[member],
           arrivals.instances.collective[i], arrivals.has(i, kArrivalResolved), arrivals.has(i, kArrivalCertain)});
    }
  }
  for (auto& members : by_process_) {
    std::sort(members.begin(), members.end(), [](const LateMember& a, const LateMember& b) {
      return std::tuple(a.first_ns, -a.start_ns, a.call) < std::tuple(b.first_ns, -b.start_ns, b.call);
    });
  }
}

}  // namespace jaxprof::exporting
