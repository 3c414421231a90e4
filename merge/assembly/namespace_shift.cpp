#include "merge/assembly/namespace_shift.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::assembly {
namespace {

// The raw clock of the readings when the wall clock read `wall_ns`.
std::int64_t raw_at_wall(const std::vector<spool::ClockReading>& readings, std::int64_t wall_ns) {
  const auto after = std::upper_bound(readings.begin(), readings.end(), wall_ns,
                                      [](std::int64_t value, const auto& reading) { return value < reading.wall_ns; });
  const auto& next = after == readings.end() ? readings.back() : *after;
  const auto& before = after == readings.begin() ? readings.front() : *(after - 1);
  const std::int64_t lead_ns = before.raw_ns - before.wall_ns;
  if (next.wall_ns == before.wall_ns) return wall_ns + lead_ns;
  const std::int64_t change_ns = next.raw_ns - next.wall_ns - lead_ns;
  const double share =
      static_cast<double>(wall_ns - before.wall_ns) / static_cast<double>(next.wall_ns - before.wall_ns);
  return wall_ns + lead_ns + std::llround(share * static_cast<double>(change_ns));
}

}  // namespace

std::optional<std::int64_t> namespace_shift_ns(std::vector<spool::ClockReading> readings,
                                               std::span<const spool::AnchorRecord> anchors) {
  if (readings.empty() || anchors.empty()) return std::nullopt;
  std::sort(readings.begin(), readings.end(), [](const auto& a, const auto& b) { return a.wall_ns < b.wall_ns; });
  std::vector<std::int64_t> shifts;
  for (const spool::AnchorRecord& anchor : anchors) {
    shifts.push_back(raw_at_wall(readings, anchor.realtime_ns) - anchor.monotonic_raw_ns);
  }
  const auto middle = shifts.begin() + static_cast<std::ptrdiff_t>(shifts.size() / 2);
  std::nth_element(shifts.begin(), middle, shifts.end());
  return *middle;
}

}  // namespace jaxprof::assembly
