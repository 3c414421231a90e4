// A resample is drawn as counts of ascending values, so that its median is found without sorting.
#include "merge/study/two_samples.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace jaxprof::study {
namespace {

std::vector<std::int64_t> ascending(std::span<const std::int64_t> values) {
  std::vector<std::int64_t> sorted(values.begin(), values.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted;
}

// A number in [0, 1) that is the same on all platforms.
double uniform(std::mt19937_64& random) {
  return static_cast<double>(random() >> 11U) * 0x1p-53;
}

// The median of a resample of ascending values: n draws, counted by position.
class Resample {
 public:
  explicit Resample(std::span<const std::int64_t> values) {
    const std::size_t n = std::min(values.size(), kMostResampled);
    for (std::size_t i = 0; i < n; ++i) values_.push_back(values[i * values.size() / n + (values.size() / n) / 2]);
    drawn_.resize(n);
  }
  double median(std::mt19937_64& random) {
    std::fill(drawn_.begin(), drawn_.end(), 0U);
    const std::size_t n = values_.size();
    for (std::size_t i = 0; i < n; ++i) {
      ++drawn_[static_cast<std::size_t>(uniform(random) * static_cast<double>(n))];
    }
    return (at((n - 1) / 2) + at(n / 2)) / 2;
  }

 private:
  double at(std::size_t position) const {
    std::size_t seen = 0;
    for (std::size_t i = 0; i < drawn_.size(); ++i) {
      seen += drawn_[i];
      if (seen > position) return static_cast<double>(values_[i]);
    }
    return static_cast<double>(values_.back());
  }
  std::vector<std::int64_t> values_;
  std::vector<std::uint32_t> drawn_;
};

}  // namespace

std::optional<RatioInterval> median_ratio_interval(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() < kMinToCompare || b.size() < kMinToCompare) return std::nullopt;
  const std::vector<std::int64_t> sorted_a = ascending(a);
  const std::vector<std::int64_t> sorted_b = ascending(b);
  if (sorted_a[(sorted_a.size() - 1) / 2] <= 0) return std::nullopt;
  Resample from_a(sorted_a);
  Resample from_b(sorted_b);
  std::mt19937_64 random(kBootstrapSeed);
  std::vector<double> ratios;
  for (std::size_t i = 0; i < kResamples; ++i) {
    const double median_a = from_a.median(random);
    const double median_b = from_b.median(random);
    if (median_a > 0) ratios.push_back(median_b / median_a);
  }
  if (ratios.empty()) return std::nullopt;
  std::sort(ratios.begin(), ratios.end());
  const auto at = [&ratios](double share) {
    return ratios[static_cast<std::size_t>(share * static_cast<double>(ratios.size() - 1))];
  };
  return RatioInterval{at(0.025), at(0.975)};
}

std::optional<double> mann_whitney_p(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  if (a.size() < kMinToCompare || b.size() < kMinToCompare) return std::nullopt;
  const std::vector<std::int64_t> sorted_a = ascending(a);
  const std::vector<std::int64_t> sorted_b = ascending(b);
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const double n = n_a + n_b;
  double rank_sum_a = 0;
  double ties = 0;
  std::size_t in_a = 0;
  std::size_t in_b = 0;
  for (double below = 0; in_a < sorted_a.size() || in_b < sorted_b.size();) {
    const bool is_a = in_b == sorted_b.size() || (in_a < sorted_a.size() && sorted_a[in_a] <= sorted_b[in_b]);
    const std::int64_t value = is_a ? sorted_a[in_a] : sorted_b[in_b];
    const std::size_t first_a = in_a;
    const std::size_t first_b = in_b;
    while (in_a < sorted_a.size() && sorted_a[in_a] == value) ++in_a;
    while (in_b < sorted_b.size() && sorted_b[in_b] == value) ++in_b;
    const auto equal_a = static_cast<double>(in_a - first_a);
    const double equal = equal_a + static_cast<double>(in_b - first_b);
    rank_sum_a += equal_a * (below + (equal + 1) / 2);
    ties += equal * equal * equal - equal;
    below += equal;
  }
  const double u = rank_sum_a - n_a * (n_a + 1) / 2;
  const double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));
  if (!(variance > 0)) return 1.0;
  const double off = std::max(0.0, std::abs(u - n_a * n_b / 2) - 0.5);
  return std::erfc(off / std::sqrt(variance) / std::sqrt(2.0));
}

}  // namespace jaxprof::study
