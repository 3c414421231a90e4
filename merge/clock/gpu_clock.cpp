#include "merge/clock/gpu_clock.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iterator>
#include <limits>

namespace jaxprof::clock {
namespace {

// A reading is left out if it took this many times the median: something came between its halves.
constexpr std::uint64_t kBracketOutlier = 4;
// A disciplined clock is slewed by at most 500 ppm (adjtimex(2)); what moves faster was set. The floor is far above the
// noise of a reading.
constexpr double kMaxSlew = 500e-6;
constexpr std::int64_t kStepFloorNs = 50'000;

// CUPTI's clock cannot show more; keeps differences within 64 bits.
bool is_plausible(std::int64_t gpu_ns) {
  return gpu_ns > 0 && gpu_ns <= AxisClock::kLastNs;
}

std::uint64_t median_bracket(std::span<const spool::GpuClockState> readings) {
  std::vector<std::uint64_t> brackets;
  for (const spool::GpuClockState& reading : readings) brackets.push_back(reading.bracket);
  const auto middle = brackets.begin() + static_cast<std::ptrdiff_t>(brackets.size() / 2);
  std::nth_element(brackets.begin(), middle, brackets.end());
  return *middle;
}

}  // namespace

std::int64_t GpuClockModel::Piece::axis_ns(std::int64_t gpu_ns) const {
  const auto after = std::upper_bound(knots.begin(), knots.end(), gpu_ns,
                                      [](std::int64_t value, const Knot& knot) { return value < knot.gpu_ns; });
  const Knot& before = after == knots.begin() ? *after : *(after - 1);
  const std::int64_t offset_ns = before.axis_ns - before.gpu_ns;
  const bool is_between = after != knots.begin() && after != knots.end();
  if (!is_between) return gpu_ns + offset_ns;
  const double share = static_cast<double>(gpu_ns - before.gpu_ns) / static_cast<double>(after->gpu_ns - before.gpu_ns);
  const std::int64_t change_ns = after->axis_ns - after->gpu_ns - offset_ns;
  return gpu_ns + offset_ns + std::llround(share * static_cast<double>(change_ns));
}

GpuClockModel GpuClockModel::through(const std::vector<Knot>& knots) {
  GpuClockModel model;
  model.residual_ns_ = std::numeric_limits<double>::quiet_NaN();
  for (const Knot& knot : knots) {
    if (!model.pieces_.empty()) {
      const Knot& before = model.pieces_.back().knots.back();
      const std::int64_t elapsed_ns = knot.axis_ns - before.axis_ns;
      const std::int64_t change_ns = knot.gpu_ns - before.gpu_ns - elapsed_ns;
      const auto limit_ns = kStepFloorNs + std::llround(kMaxSlew * static_cast<double>(elapsed_ns));
      if (std::abs(change_ns) <= limit_ns) {
        if (knot.gpu_ns > before.gpu_ns) model.pieces_.back().knots.push_back(knot);
        continue;
      }
      model.pieces_.back().until_ns = knot.axis_ns;
      model.pieces_.push_back({{knot}, before.axis_ns, AxisClock::kLastNs});
      continue;
    }
    model.pieces_.push_back({{knot}, 0, AxisClock::kLastNs});
  }
  model.measure_residual();
  return model;
}

GpuClockModel GpuClockModel::fit(std::span<const spool::GpuClockState> readings, const AxisClock& wall) {
  if (readings.empty()) return through({});
  const std::uint64_t median = median_bracket(readings);
  std::vector<spool::GpuClockState> kept;
  std::copy_if(readings.begin(), readings.end(), std::back_inserter(kept), [median](const spool::GpuClockState& r) {
    return is_plausible(r.gpu_ns) && (r.bracket / kBracketOutlier <= median || median == 0);
  });
  std::sort(kept.begin(), kept.end(), [](const auto& a, const auto& b) { return a.counter < b.counter; });
  std::vector<Knot> knots;
  for (const spool::GpuClockState& reading : kept) knots.push_back({reading.gpu_ns, wall.axis_ns(reading.counter)});
  return through(knots);
}

GpuClockModel GpuClockModel::fit(std::span<const spool::AnchorRecord> anchors, const AxisClock& wall) {
  std::vector<spool::AnchorRecord> sorted;
  std::copy_if(anchors.begin(), anchors.end(), std::back_inserter(sorted),
               [](const spool::AnchorRecord& anchor) { return is_plausible(anchor.realtime_ns); });
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return a.counter < b.counter; });
  std::vector<Knot> knots;
  for (const spool::AnchorRecord& anchor : sorted) {
    knots.push_back({anchor.realtime_ns, wall.axis_ns(anchor.counter)});
  }
  return through(knots);
}

void GpuClockModel::measure_residual() {
  for (const Piece& piece : pieces_) {
    for (std::size_t i = 1; i + 1 < piece.knots.size(); ++i) {
      const Piece without{{piece.knots[i - 1], piece.knots[i + 1]}, 0, 0};
      const auto error_ns =
          static_cast<double>(std::abs(without.axis_ns(piece.knots[i].gpu_ns) - piece.knots[i].axis_ns));
      residual_ns_ = std::isnan(residual_ns_) ? error_ns : std::max(residual_ns_, error_ns);
    }
  }
}

GpuClockModel::Instant GpuClockModel::at(std::int64_t gpu_ns) const {
  gpu_ns = std::clamp(gpu_ns, std::int64_t{0}, AxisClock::kLastNs);
  const auto held = [](std::int64_t axis_ns) { return std::clamp(axis_ns, std::int64_t{0}, AxisClock::kLastNs); };
  if (pieces_.size() == 1) return {held(pieces_.front().axis_ns(gpu_ns)), false};
  Instant found;
  std::int64_t least_miss_ns = std::numeric_limits<std::int64_t>::max();
  std::size_t fitting = 0;
  for (const Piece& piece : pieces_) {
    const std::int64_t axis_ns = held(piece.axis_ns(gpu_ns));
    const std::int64_t miss_ns = std::max({piece.from_ns - axis_ns, axis_ns - piece.until_ns, std::int64_t{0}});
    if (miss_ns == 0) ++fitting;
    if (miss_ns >= least_miss_ns) continue;
    least_miss_ns = miss_ns;
    found.axis_ns = axis_ns;
  }
  found.is_ambiguous = fitting > 1;
  return found;
}

}  // namespace jaxprof::clock
