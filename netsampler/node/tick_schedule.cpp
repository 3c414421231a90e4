#include "netsampler/node/tick_schedule.h"

#include <algorithm>

namespace jaxprof::netsampler {

void TickSchedule::set(std::uint32_t entry, std::uint64_t period_ns, std::uint64_t slow_period_ns,
                       std::uint64_t now_ns) {
  const auto known = entries_.find(entry);
  if (known != entries_.end()) {
    if (known->second.period_ns == period_ns && known->second.slow_period_ns == slow_period_ns) return;
    entries_.erase(known);
  }
  if (period_ns == 0) return;
  const std::uint64_t passed = now_ns > origin_ns_ ? (now_ns - origin_ns_) / period_ns : 0;
  const std::uint64_t last_ns = origin_ns_ + passed * period_ns;
  entries_[entry] = {period_ns, slow_period_ns, last_ns + period_ns, last_ns};
}

std::uint64_t TickSchedule::next_deadline_ns() const {
  std::uint64_t earliest = UINT64_MAX;
  for (const auto& [number, entry] : entries_) earliest = std::min(earliest, entry.next_ns);
  return earliest;
}

bool TickSchedule::is_slow(const Entry& entry, std::uint64_t deadline_ns) const {
  if (entry.slow_period_ns <= entry.period_ns) return true;
  return (deadline_ns - origin_ns_) / entry.slow_period_ns != (entry.last_ns - origin_ns_) / entry.slow_period_ns;
}

void TickSchedule::take_due(std::uint64_t now_ns, std::vector<DueTick>* due) {
  due->clear();
  for (auto& [number, entry] : entries_) {
    if (entry.next_ns > now_ns) continue;
    const std::uint64_t missed = (now_ns - entry.next_ns) / entry.period_ns;
    const std::uint64_t deadline_ns = entry.next_ns + missed * entry.period_ns;
    const std::uint64_t lateness_ns = now_ns - deadline_ns;
    due->push_back({number, is_slow(entry, deadline_ns), lateness_ns});
    entry.last_ns = deadline_ns;
    entry.next_ns = deadline_ns + entry.period_ns;
    counts_.ticks += missed + 1;
    counts_.missed += missed;
    counts_.lateness_max_ns = std::max(counts_.lateness_max_ns, lateness_ns);
    counts_.lateness_sum_ns += lateness_ns;
  }
}

}  // namespace jaxprof::netsampler
