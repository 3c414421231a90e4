#include "merge/clock/link_line.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "merge/clock/median.h"

namespace jaxprof::clock {
namespace {

constexpr double kShortestBaseNs = 0.5e9;  // a slope over less is noise

struct Sight {
  double time_ns;
  double middle_ns;
  double width_ns;
};

// Slopes between bursts that lie half of all apart, median: those of a quarter of all bursts may be anything.
bool fit_rate(const std::vector<Sight>& sights, double* rate) {
  std::vector<double> rates;
  const std::size_t lag = std::max<std::size_t>(1, sights.size() / 2);
  for (std::size_t i = 0; i + lag < sights.size(); ++i) {
    const double base_ns = sights[i + lag].time_ns - sights[i].time_ns;
    if (base_ns >= kShortestBaseNs) rates.push_back((sights[i + lag].middle_ns - sights[i].middle_ns) / base_ns);
  }
  if (rates.empty()) return false;
  const double found = median(&rates);
  if (std::abs(found) > kSteepestDrift) return false;  // no pair of clocks is as bad as that; stamps are
  *rate = found;
  return true;
}

}  // namespace

LinkLine fit_line(const ProbeLink& link, std::span<const std::uint32_t> chosen) {
  const LinkBurst& first = link.bursts()[chosen.front()];
  LinkLine line{.a_ns = first.a_ns, .base_ns = first.base_ns, .bursts = chosen.size()};
  // The first pass lets bursts lean as they do, the second takes the rate of the first out of each.
  for (int pass = 0; pass < 2; ++pass) {
    std::vector<Sight> sights;
    std::vector<double> widths;
    for (const std::uint32_t index : chosen) {
      const LinkBurst& burst = link.bursts()[index];
      const Interval interval = link.interval(burst, line.rate);
      sights.push_back({static_cast<double>(burst.a_ns - first.a_ns),
                        static_cast<double>(burst.base_ns - first.base_ns) + interval.middle(), interval.width()});
      widths.push_back(interval.width());
    }
    line.width_ns = median(&widths);
    // Wide ones know less; the better half is left if it spans enough.
    std::vector<Sight> narrow;
    for (const Sight& sight : sights) {
      if (sight.width_ns <= line.width_ns) narrow.push_back(sight);
    }
    line.is_rate_known = fit_rate(narrow, &line.rate) || fit_rate(sights, &line.rate);
    std::vector<double> offsets;
    for (const Sight& sight : narrow) offsets.push_back(sight.middle_ns - line.rate * sight.time_ns);
    line.offset_ns = median(&offsets);
  }
  return line;
}

}  // namespace jaxprof::clock
