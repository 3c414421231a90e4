#include "netsampler/nic/reading_period.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;
constexpr std::uint64_t kMillisecond = 1'000'000;
constexpr std::uint64_t kTimesTheReading = 20;

std::uint64_t in_whole_ms(std::uint64_t ns) {
  return (ns + kMillisecond - 1) / kMillisecond * kMillisecond;
}

}  // namespace

Periods choose_periods(std::span<const PeriodWish> wishes, unsigned hz, bool is_half_rate) {
  Periods chosen;
  for (const PeriodWish& wish : wishes) {
    if (wish.is_read) chosen.reading_ns += wish.reading_ns;
  }
  chosen.shortest_ns = in_whole_ms(chosen.reading_ns * kTimesTheReading);
  const std::uint64_t factor = is_half_rate ? 2 : 1;
  for (const PeriodWish& wish : wishes) {
    if (!wish.is_read) {
      chosen.ports.push_back({});
      continue;
    }
    const std::uint64_t by_rate = hz == 0 ? wish.default_period_ns : kSecond / hz;
    const std::uint64_t wanted = factor * (wish.has_fast && wish.is_active ? by_rate : kSecond);
    Period period;
    period.fast_ns = std::max(wanted, chosen.shortest_ns);
    period.slow_ns = std::max(period.fast_ns, factor * kSecond);
    if (!wish.has_fast) period.fast_ns = period.slow_ns;
    chosen.is_lowered = chosen.is_lowered || period.fast_ns > wanted;
    chosen.ports.push_back(period);
  }
  return chosen;
}

bool takes_other_time(std::uint64_t before_ns, std::uint64_t now_ns) {
  return now_ns >= 2 * before_ns || 2 * now_ns <= before_ns;
}

std::uint64_t typical_reading_ns(std::span<const std::uint64_t> readings_ns, bool is_kept_by_kernel) {
  if (readings_ns.empty()) return 0;
  if (is_kept_by_kernel) return readings_ns.front();
  std::vector<std::uint64_t> sorted(readings_ns.begin(), readings_ns.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted[sorted.size() / 2];
}

}  // namespace jaxprof::netsampler
