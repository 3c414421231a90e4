// Type 7: position share * (n - 1), linear between its neighbours.
#include "merge/study/distribution.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::study {

double percentile(std::span<const std::int64_t> ascending, double share) {
  const double position = share * static_cast<double>(ascending.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, ascending.size() - 1);
  const double fraction = position - static_cast<double>(below);
  // The difference of integers is exact where that of two large doubles is not; without a sign it always fits.
  const auto step =
      static_cast<double>(static_cast<std::uint64_t>(ascending[above]) - static_cast<std::uint64_t>(ascending[below]));
  return static_cast<double>(ascending[below]) + fraction * step;
}

Distribution describe(std::vector<std::int64_t> values) {
  Distribution d;
  d.n = values.size();
  if (values.empty()) return d;
  std::sort(values.begin(), values.end());
  const auto n = static_cast<double>(values.size());
  const auto at = [&values](double share) { return percentile(values, share); };
  d.min = values.front();
  d.max = values.back();
  d.p25 = at(0.25);
  d.p50 = at(0.50);
  d.p75 = at(0.75);
  if (d.n >= kMinForP05) {
    d.p05 = at(0.05);
    d.p95 = at(0.95);
  }
  if (d.n >= kMinForP01) {
    d.p01 = at(0.01);
    d.p99 = at(0.99);
  }
  double sum = 0;
  for (const std::int64_t value : values) sum += static_cast<double>(value);
  d.mean = sum / n;
  if (d.n >= 2) {
    double squares = 0;
    for (const std::int64_t value : values) squares += std::pow(static_cast<double>(value) - *d.mean, 2);
    d.std = std::sqrt(squares / (n - 1));
  }
  return d;
}

}  // namespace jaxprof::study
