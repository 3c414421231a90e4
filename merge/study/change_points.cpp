// The deviation is taken from the median of the first steps since the last change; where the sum began to grow, the
// change was.
#include "merge/study/change_points.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::study {
namespace {

double median(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> copy(values.begin(), values.end());
  const auto middle = copy.begin() + static_cast<std::ptrdiff_t>(copy.size() / 2);
  std::nth_element(copy.begin(), middle, copy.end());
  return static_cast<double>(*middle);
}

// One side: +1 looks for slower, -1 for faster.
class Side {
 public:
  explicit Side(double sign) : sign_(sign) {}
  // True where the change is believed; first() then says where it began.
  bool add(std::size_t position, double deviation) {
    const double seen = std::clamp(sign_ * deviation, -2 * kChangeDelta, 2 * kChangeDelta) - kChangeDelta / 2;
    if (sum_ <= 0) first_ = position;
    sum_ = std::max(0.0, sum_ + seen);
    return sum_ >= kChangeThreshold;
  }
  std::size_t first() const { return first_; }

 private:
  double sign_;
  double sum_ = 0;
  std::size_t first_ = 0;
};

// The first change behind `begin`; the end if there is none.
std::size_t next_change(std::span<const std::int64_t> lengths_ns, std::size_t begin) {
  Side slower(1);
  Side faster(-1);
  if (lengths_ns.size() < begin + 2 * kStepsOfAChange) return lengths_ns.size();
  const double reference = median(lengths_ns.subspan(begin, kStepsOfAChange));
  if (!(reference > 0)) return lengths_ns.size();
  for (std::size_t i = begin + kStepsOfAChange; i < lengths_ns.size(); ++i) {
    const double deviation = static_cast<double>(lengths_ns[i]) / reference - 1;
    const bool is_slower = slower.add(i, deviation);
    const bool is_faster = faster.add(i, deviation);
    if (is_slower || is_faster) return is_slower ? slower.first() : faster.first();
  }
  return lengths_ns.size();
}

}  // namespace

std::vector<ChangePoint> change_points(std::span<const std::int64_t> lengths_ns) {
  std::vector<std::size_t> borders = {0};
  for (std::size_t at = 0; (at = next_change(lengths_ns, at)) < lengths_ns.size();) {
    if (lengths_ns.size() - at < kStepsOfAChange) break;
    borders.push_back(at);
  }
  borders.push_back(lengths_ns.size());
  std::vector<ChangePoint> changes;
  for (std::size_t i = 1; i + 1 < borders.size(); ++i) {
    const double before = median(lengths_ns.subspan(borders[i - 1], borders[i] - borders[i - 1]));
    const double after = median(lengths_ns.subspan(borders[i], borders[i + 1] - borders[i]));
    // What came back at once was no change.
    if (before > 0 && std::abs(after / before - 1) >= kChangeDelta) changes.push_back({borders[i], after / before});
  }
  return changes;
}

}  // namespace jaxprof::study
