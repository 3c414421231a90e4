#include "tests/simulator/sim_wall.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::test {
namespace {

constexpr std::int64_t kEpochNs = 1'790'000'000'000'000'000;
constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kCorrectionNs = 32 * kSecondNs;
constexpr double kOffsetNs = 200e3;     // how far the daemons of two nodes are apart
constexpr double kRateError = 0.05e-6;  // of a correction

}  // namespace

SimWall::SimWall(const SimClock& clock, std::int64_t length_ns, const std::vector<SimWallEvent>& events,
                 SimRandom random) {
  // Every instant at which the rate changes or the clock is set, with the slew that holds from there.
  struct Change {
    std::int64_t at_ns;
    double step_ns;
    double slew;
    bool is_correction;
  };
  std::vector<Change> changes;
  for (std::int64_t at_ns = -kSecondNs; at_ns < length_ns + kSecondNs; at_ns += kCorrectionNs) {
    changes.push_back({at_ns, 0, 0, true});
  }
  for (const SimWallEvent& event : events) {
    changes.push_back({event.at_ns, event.step_ns, event.slew_ppm * 1e-6, false});
    if (event.slew_ns > 0) changes.push_back({event.at_ns + event.slew_ns, 0, -event.slew_ppm * 1e-6, false});
  }
  std::stable_sort(changes.begin(), changes.end(), [](const auto& a, const auto& b) { return a.at_ns < b.at_ns; });
  base_ns_ = kEpochNs - clock.raw_ns(0) + std::llround(random.normal(kOffsetNs));
  double correction = 0;
  double slew = 0;
  double difference_ns = 0;
  for (const Change& change : changes) {
    const std::int64_t raw_ns = clock.raw_ns(change.at_ns);
    if (!lines_.empty()) {
      difference_ns += lines_.back().slope * static_cast<double>(raw_ns - lines_.back().raw_ns);
    }
    difference_ns += change.step_ns;
    slew += change.slew;
    if (change.is_correction)
      correction = random.normal(kRateError) - clock.rate(std::max<std::int64_t>(0, change.at_ns));
    lines_.push_back({raw_ns, difference_ns, correction + slew});
  }
}

std::int64_t SimWall::wall_ns(std::int64_t raw_ns, std::size_t* place) const {
  const auto holds = [&](std::size_t i) {
    return lines_[i].raw_ns <= raw_ns && (i + 1 == lines_.size() || raw_ns < lines_[i + 1].raw_ns);
  };
  if (!holds(*place)) {
    const auto after = std::upper_bound(lines_.begin(), lines_.end(), raw_ns,
                                        [](std::int64_t value, const Line& line) { return value < line.raw_ns; });
    *place = after == lines_.begin() ? 0 : static_cast<std::size_t>(after - lines_.begin()) - 1;
  }
  const Line& line = lines_[*place];
  return raw_ns + base_ns_ + std::llround(line.difference_ns + line.slope * static_cast<double>(raw_ns - line.raw_ns));
}

}  // namespace jaxprof::test
