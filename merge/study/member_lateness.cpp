#include "merge/study/member_lateness.h"

#include <algorithm>
#include <cmath>

#include "merge/study/in_parallel.h"

namespace jaxprof::study {
namespace {

constexpr double kSigmas = 3;
constexpr std::size_t kInstancesWorthAThread = 4096;

void set_lateness(const Arrivals& arrivals, std::size_t instance, std::vector<std::int64_t>& scratch,
                  MemberLateness& to) {
  const ArrivalMembers& members = arrivals.members;
  const auto starts_ns = arrivals.starts_ns(instance);
  scratch.assign(starts_ns.begin(), starts_ns.end());
  const std::int64_t middle_ns = median_ns(scratch);
  scratch.clear();
  for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
    to.after_first_ns[i] = span_ns(arrivals.instances.first_ns[instance], members.start_ns[i]);
    to.off_middle_ns[i] = span_ns(middle_ns, members.start_ns[i]);
    if (members.previous[i] == kNoMember) continue;
    to.self_ns[i] = span_ns(members.end_ns[members.previous[i]], members.start_ns[i]);
    scratch.push_back(to.self_ns[i]);
  }
  if (scratch.empty()) return;
  const std::int64_t usual_ns = median_ns(scratch);
  for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
    if (to.self_ns[i] != kNoLateness) to.self_ns[i] = span_ns(usual_ns, to.self_ns[i]);
  }
}

}  // namespace

std::int64_t median_ns(std::vector<std::int64_t>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  const std::int64_t below = *std::max_element(values.begin(), middle);
  return below + span_ns(below, *middle) / 2;
}

MemberLateness member_lateness(const Arrivals& arrivals, const std::vector<std::uint8_t>& is_counted) {
  MemberLateness found;
  for (auto* column : {&found.after_first_ns, &found.off_middle_ns, &found.self_ns}) {
    column->assign(arrivals.members.call.size(), kNoLateness);
  }
  in_parallel(arrivals.size(), kInstancesWorthAThread, [&](std::size_t begin, std::size_t end) {
    std::vector<std::int64_t> scratch;
    for (std::size_t i = begin; i < end; ++i) {
      if (is_counted[i] != 0) set_lateness(arrivals, i, scratch, found);
    }
  });
  return found;
}

std::vector<std::int64_t> resolutions_ns(const runfile::RunTables& run, const Arrivals& arrivals) {
  constexpr double kMostNs = 9e18;
  std::vector<std::int64_t> found;
  found.reserve(arrivals.size());
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    const std::uint64_t row = arrivals.instances.collective[i];
    const double sigma_ns = run.collectives.clock_sigma_ns[row];
    const double bound_ns = run.collectives.clock_bound_ns[row];
    const double limit_ns = std::isnan(sigma_ns)   ? bound_ns
                            : std::isnan(bound_ns) ? kSigmas * sigma_ns
                                                   : std::min(kSigmas * sigma_ns, bound_ns);
    if (!std::isnan(limit_ns)) {
      found.push_back(static_cast<std::int64_t>(std::clamp(limit_ns, 0.0, kMostNs)));
    } else {
      found.push_back(arrivals.has(i, kArrivalResolved) ? 0 : -1);
    }
  }
  return found;
}

Judged judged_instances(const Arrivals& arrivals) {
  Judged judged;
  std::size_t n_complete = 0;
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!arrivals.has(i, kArrivalAsked)) continue;
    ++judged.n_asked;
    if (arrivals.has(i, kArrivalComplete | kArrivalAsRecorded)) ++n_complete;
  }
  judged.lacks_members = n_complete == 0;
  const auto needed =
      static_cast<std::uint8_t>(kArrivalAsked | kArrivalAsRecorded | (judged.lacks_members ? 0 : kArrivalComplete));
  judged.is_counted.assign(arrivals.size(), 0);
  for (std::size_t i = 0; i < arrivals.size(); ++i) {
    if (!arrivals.has(i, needed)) continue;
    judged.is_counted[i] = 1;
    ++judged.n;
    if (!arrivals.has(i, kArrivalResolved)) ++judged.n_unresolved;
  }
  return judged;
}

}  // namespace jaxprof::study
