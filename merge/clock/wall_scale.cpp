#include "merge/clock/wall_scale.h"

#include <algorithm>
#include <cmath>

#include "merge/clock/rounding.h"

namespace jaxprof::clock {
namespace {

using spool::ClockReading;

constexpr double kToleranceNs = 50;                     // of the lines, beyond what a reading is worth itself
constexpr std::int64_t kLongestLineNs = 4'000'000'000;  // so that one bad reading spoils little
constexpr std::int64_t kLongestGapNs = 2'000'000'000;   // between readings; behind it the clock may have done anything
constexpr std::int64_t kFarthestEndNs = 1'000'000'000;  // beyond the first and the last reading
constexpr std::int64_t kShortestGapNs = 20'000'000;     // a slope over less is mostly noise
constexpr double kFastestSlew = 500e-6;                 // of the kernel's own discipline: adjtimex(2)
constexpr double kStepSlew = 1000e-6;                   // what moves faster was set, if it moved far enough
constexpr double kStepFloorNs = 10'000;
constexpr std::uint32_t kSlowReading = 4;  // times the median
constexpr std::uint32_t kSlowReadingFloorNs = 200;
constexpr float kUnknown = -1;

std::int64_t difference_ns(const ClockReading& reading) {
  return reading.wall_ns - reading.raw_ns;
}

double slope_between(const ClockReading& from, const ClockReading& to) {
  return static_cast<double>(difference_ns(to) - difference_ns(from)) / static_cast<double>(to.raw_ns - from.raw_ns);
}

std::uint32_t slowest_allowed_ns(std::span<const ClockReading> readings) {
  std::vector<std::uint32_t> brackets;
  brackets.reserve(readings.size());
  for (const ClockReading& reading : readings) brackets.push_back(reading.bracket_ns);
  const auto middle = brackets.begin() + static_cast<std::ptrdiff_t>(brackets.size() / 2);
  std::nth_element(brackets.begin(), middle, brackets.end());
  return *middle < UINT32_MAX / kSlowReading - kSlowReadingFloorNs ? *middle * kSlowReading + kSlowReadingFloorNs
                                                                   : UINT32_MAX;
}

// Leaves of readings that are close together the quickest.
void keep_apart(std::vector<ClockReading>* sorted) {
  std::size_t kept = 0;
  for (const ClockReading& reading : *sorted) {
    ClockReading& last = (*sorted)[kept == 0 ? 0 : kept - 1];
    if (kept == 0 || reading.raw_ns - last.raw_ns >= kShortestGapNs) {
      (*sorted)[kept++] = reading;
    } else if (reading.bracket_ns < last.bracket_ns) {
      last = reading;
    }
  }
  sorted->resize(kept);
}

// Plausible readings that were quick, by time and some way apart.
std::vector<ClockReading> put_in_order(std::span<const ClockReading> readings) {
  std::vector<ClockReading> sorted;
  if (readings.empty()) return sorted;
  const std::uint32_t allowed_ns = slowest_allowed_ns(readings);
  sorted.reserve(readings.size());
  for (const ClockReading& reading : readings) {
    if (is_plausible(reading) && reading.bracket_ns <= allowed_ns) sorted.push_back(reading);
  }
  const auto is_before = [](const ClockReading& a, const ClockReading& b) {
    if (a.raw_ns != b.raw_ns) return a.raw_ns < b.raw_ns;
    return a.bracket_ns != b.bracket_ns ? a.bracket_ns < b.bracket_ns : a.wall_ns < b.wall_ns;
  };
  if (!std::is_sorted(sorted.begin(), sorted.end(), is_before)) std::sort(sorted.begin(), sorted.end(), is_before);
  keep_apart(&sorted);
  return sorted;
}

}  // namespace

WallScale WallScale::fit(std::span<const ClockReading> readings) {
  WallScale scale;
  const std::vector<ClockReading> sorted = put_in_order(readings);
  if (sorted.size() < 2) return scale;
  std::vector<float> errors_ns;
  scale.find_steps(sorted, &errors_ns);
  scale.thin(sorted, errors_ns);
  scale.knots_.shrink_to_fit();
  return scale;
}

// The error of each stretch between two readings, or kUnknown, and the steps.
void WallScale::find_steps(const std::vector<ClockReading>& readings, std::vector<float>* errors_ns) {
  const std::size_t count = readings.size() - 1;
  errors_ns->assign(count, kUnknown);
  const auto is_step = [&](std::size_t i) {
    const auto gap_ns = static_cast<double>(readings[i + 1].raw_ns - readings[i].raw_ns);
    const double noise_ns = static_cast<double>(readings[i].bracket_ns) + readings[i + 1].bracket_ns;
    const auto change_ns = static_cast<double>(difference_ns(readings[i + 1]) - difference_ns(readings[i]));
    return std::abs(change_ns) > kStepFloorNs + noise_ns + kStepSlew * gap_ns;
  };
  bool was_step = false;
  double slope_before = 0;
  bool has_before = false;
  std::int64_t before_step_ns = 0;   // the difference there
  std::int64_t without_step_ns = 0;  // what it would have changed by since
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_set = is_step(i);
    if (is_set) {
      // A clock that is slewed much faster than the kernel does by itself looks like many steps: it is one.
      if (!was_step) {
        steps_.push_back({});
        before_step_ns = difference_ns(readings[i]);
        without_step_ns = 0;
      }
      const auto gap_ns = static_cast<double>(readings[i + 1].raw_ns - readings[i].raw_ns);
      without_step_ns = hold_ns(without_step_ns + round_ns(slope_before * gap_ns));
      steps_.back().raw_ns = readings[i + 1].raw_ns;
      steps_.back().size_ns = difference_ns(readings[i + 1]) - before_step_ns - without_step_ns;
    }
    was_step = is_set;
    const std::int64_t gap_ns = readings[i + 1].raw_ns - readings[i].raw_ns;
    if (is_set || gap_ns > kLongestGapNs) {
      has_before = false;
      if (!is_set) slope_before = 0;
      continue;
    }
    // Where the rate changes once within the stretch, the clock leaves the line by no more than the lesser of what the
    // slopes on both sides make of it; a step too small to be told from noise shows up as both.
    const double slope = slope_between(readings[i], readings[i + 1]);
    double bend = 0;
    if (has_before) bend = std::abs(slope - slope_before);
    if (i + 1 < count && !is_step(i + 1)) {
      const double after = std::abs(slope - slope_between(readings[i + 1], readings[i + 2]));
      bend = has_before ? std::min(bend, after) : after;
    }
    const double reading_ns = std::max(readings[i].bracket_ns, readings[i + 1].bracket_ns);
    (*errors_ns)[i] = static_cast<float>(reading_ns + bend * static_cast<double>(gap_ns));
    slope_before = slope;
    has_before = true;
  }
}

// The line between the first and the last of `readings` becomes the last knot's segment; a new knot is at its end.
void WallScale::close_segment(std::span<const ClockReading> readings, std::span<const float> errors_ns) {
  const ClockReading& first = readings.front();
  const ClockReading& last = readings.back();
  const double slope = slope_between(first, last);
  float error_ns = 0;
  for (std::size_t i = 0; i + 1 < readings.size(); ++i) {
    if (errors_ns[i] < 0) error_ns = kUnknown;
    if (error_ns < 0) break;
    const auto off_line_ns = [&](const ClockReading& reading) {
      return std::abs(static_cast<double>(difference_ns(reading) - difference_ns(first)) -
                      slope * static_cast<double>(reading.raw_ns - first.raw_ns));
    };
    const double off_ns = std::max(off_line_ns(readings[i]), off_line_ns(readings[i + 1]));
    error_ns = std::max(error_ns, errors_ns[i] + static_cast<float>(off_ns) + 1.0F);
  }
  knots_.back().error_ns = error_ns;
  knots_.back().stretch = static_cast<float>(1 / (1 + slope) - 1);
  knots_.push_back({last.raw_ns, difference_ns(last), kUnknown, 0});
}

// A line goes on as long as it passes every reading within the tolerance.
void WallScale::thin(const std::vector<ClockReading>& readings, const std::vector<float>& errors_ns) {
  const std::span<const ClockReading> all(readings);
  const std::span<const float> errors(errors_ns);
  knots_.push_back({readings.front().raw_ns, difference_ns(readings.front()), kUnknown, 0});
  std::size_t begin = 0;
  while (begin + 1 < readings.size()) {
    std::size_t end = begin + 1;
    double least = -1;
    double most = 1;
    for (std::size_t i = begin + 1; i < readings.size(); ++i) {
      const auto length_ns = static_cast<double>(readings[i].raw_ns - readings[begin].raw_ns);
      const double slope = slope_between(readings[begin], readings[i]);
      if (i > begin + 1 && (slope < least || slope > most || errors_ns[i - 1] < 0 || errors_ns[begin] < 0 ||
                            readings[i].raw_ns - readings[begin].raw_ns > kLongestLineNs))
        break;
      const double slack = (kToleranceNs + readings[i].bracket_ns / 2.0) / length_ns;
      least = std::max(least, slope - slack);
      most = std::min(most, slope + slack);
      end = i;
    }
    close_segment(all.subspan(begin, end - begin + 1), errors.subspan(begin, end - begin));
    begin = end;
  }
}

std::optional<WallScale::Instant> WallScale::raw_at(std::int64_t wall_ns, std::int64_t near_raw_ns,
                                                    Place* place) const {
  if (knots_.size() < 2 || !is_plausible_wall(wall_ns) || !is_plausible_raw(near_raw_ns)) return {};
  std::size_t at = place->segment;
  const std::size_t last = knots_.size() - 2;
  if (at > last || near_raw_ns < knots_[at].raw_ns || near_raw_ns > knots_[at + 1].raw_ns) {
    const auto after = std::upper_bound(knots_.begin(), knots_.end(), near_raw_ns,
                                        [](std::int64_t raw_ns, const Knot& knot) { return raw_ns < knot.raw_ns; });
    at = static_cast<std::size_t>(
        std::clamp<std::ptrdiff_t>(after - knots_.begin() - 1, 0, static_cast<std::ptrdiff_t>(last)));
    place->segment = at;
  }
  const Knot& knot = knots_[at];
  if (knot.error_ns < 0) return {};
  const std::int64_t beyond_ns =
      std::max({knots_.front().raw_ns - near_raw_ns, near_raw_ns - knots_.back().raw_ns, std::int64_t{0}});
  if (beyond_ns > kFarthestEndNs) return {};
  // raw + difference(raw) = wall, and the difference is a line in raw.
  const std::int64_t distance_ns = wall_ns - knot.difference_ns - knot.raw_ns;
  if (std::abs(distance_ns) > 2 * kLongestLineNs) return {};
  const double stretched_ns = static_cast<double>(knot.stretch) * static_cast<double>(distance_ns);
  return Instant{knot.raw_ns + distance_ns + round_ns(stretched_ns),
                 static_cast<double>(knot.error_ns) + kFastestSlew * static_cast<double>(beyond_ns)};
}

}  // namespace jaxprof::clock
