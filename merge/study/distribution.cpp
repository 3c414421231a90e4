// Type 7: position share * (n - 1), linear between its neighbours. Only the values at those positions are put in
// place: a sample of millions is not sorted.
#include "merge/study/distribution.h"

#include <algorithm>
#include <cmath>

#include "merge/study/time_span.h"

namespace jaxprof::study {
namespace {

// Between two neighbours, as numpy rounds it: from the nearer one.
double between(std::int64_t a, std::int64_t b, double fraction) {
  // The difference of integers is exact where that of two large doubles is not; without a sign it always fits.
  const auto step = static_cast<double>(static_cast<std::uint64_t>(b) - static_cast<std::uint64_t>(a));
  return fraction < 0.5 ? static_cast<double>(a) + step * fraction : static_cast<double>(b) - step * (1 - fraction);
}

// Percentiles in ascending order of their shares; each leaves what is below its position behind.
class Selection {
 public:
  explicit Selection(std::span<std::int64_t> values) : values_(values) {}

  double at(double share) {
    const double position = share * static_cast<double>(values_.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    place(below);
    if (below + 1 == values_.size()) return static_cast<double>(values_[below]);
    place(below + 1);
    return between(values_[below], values_[below + 1], position - static_cast<double>(below));
  }

 private:
  void place(std::size_t position) {
    if (position < placed_) return;
    const auto at = [this](std::size_t i) { return values_.begin() + static_cast<std::ptrdiff_t>(i); };
    std::nth_element(at(placed_), at(position), values_.end());
    placed_ = position + 1;
  }
  std::span<std::int64_t> values_;
  // Values before this are at most as large as those behind, and the last of them is in its place. Positions that are
  // asked for only grow, but for the last two.
  std::size_t placed_ = 0;
};

void add_moments(std::span<const std::int64_t> values, Distribution& d) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  d.mean = sum / n;
  if (d.n < 2) return;
  double squares = 0;
  for (const std::int64_t value : values) {
    const double off = static_cast<double>(value) - *d.mean;
    squares += off * off;
  }
  d.std = std::sqrt(squares / (n - 1));
}

std::optional<double> ratio(std::optional<double> a, std::optional<double> b) {
  return a && b && *b > 0 ? std::optional(*a / *b) : std::nullopt;
}

// (g1^2 + 1) / (g2 + 3 (n-1)^2 / ((n-2)(n-3))) with sample skewness and excess kurtosis; Sarle, as SAS prints it.
std::optional<double> sarle_of(const Distribution& d, std::span<const std::int64_t> values) {
  if (d.n < kMinForModes || !d.std || *d.std <= 0) return std::nullopt;
  const auto n = static_cast<double>(d.n);
  double cubes = 0;
  double fourths = 0;
  for (const std::int64_t value : values) {
    const double z = (static_cast<double>(value) - *d.mean) / *d.std;
    cubes += z * z * z;
    fourths += z * z * z * z;
  }
  const double skewness = n / ((n - 1) * (n - 2)) * cubes;
  const double excess =
      n * (n + 1) / ((n - 1) * (n - 2) * (n - 3)) * fourths - 3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3));
  return (skewness * skewness + 1) / (excess + 3 * (n - 1) * (n - 1) / ((n - 2) * (n - 3)));
}

// Median of |value - p50|; overwrites the values.
double median_deviation(double p50, std::span<std::int64_t> values) {
  constexpr double kFarthest = 9.2e18;
  const auto middle = static_cast<std::int64_t>(std::nearbyint(std::clamp(p50, -kFarthest, kFarthest)));
  for (std::int64_t& value : values) value = value < middle ? span_ns(value, middle) : span_ns(middle, value);
  return Selection(values).at(0.5);
}

}  // namespace

double percentile(std::span<const std::int64_t> ascending, double share) {
  const double position = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  return between(ascending[below], ascending[above], position - static_cast<double>(below));
}

Distribution describe(std::vector<std::int64_t> values) {
  return describe_in_place(values);
}

Distribution describe_in_place(std::span<std::int64_t> values) {
  Distribution d;
  d.n = values.size();
  if (values.empty()) return d;
  add_moments(values, d);
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  d.min = *least;
  d.max = *most;
  Selection select(values);
  const bool has_p01 = d.n >= kMinForP01;
  const bool has_p05 = d.n >= kMinForP05;
  if (has_p01) d.p01 = select.at(0.01);
  if (has_p05) d.p05 = select.at(0.05);
  d.p25 = select.at(0.25);
  d.p50 = select.at(0.50);
  d.p75 = select.at(0.75);
  if (has_p05) d.p95 = select.at(0.95);
  if (has_p01) d.p99 = select.at(0.99);
  return d;
}

Width width_of(const Distribution& d, std::span<std::int64_t> values) {
  Width width;
  if (values.empty()) return width;
  width.iqr = *d.p75 - *d.p25;
  width.cv = ratio(d.std, d.mean);
  width.qcd = ratio(width.iqr, *d.p75 + *d.p25);
  width.tail = ratio(d.p99, d.p50);
  if (d.p05) width.span = ratio(*d.p95 - *d.p05, d.p50);
  width.sarle = sarle_of(d, values);
  if (d.n >= 2 && *d.p50 > 0) width.rcv = 1.4826 * median_deviation(*d.p50, values) / *d.p50;
  return width;
}

}  // namespace jaxprof::study
