// Is one sample larger than another, and by how much? Medians compared by a bootstrap, ranks by Mann and Whitney's
// test; neither asks how the times are distributed.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace jaxprof::study {

inline constexpr std::size_t kMinToCompare = 8;          // values in each sample
inline constexpr std::size_t kResamples = 1000;          // of the bootstrap
inline constexpr std::size_t kMostResampled = 2000;      // values of a sample that it draws from, evenly spread over it
inline constexpr std::uint64_t kBootstrapSeed = 20'261;  // fixed: the same two files give the same interval

struct RatioInterval {
  double low = 0;
  double high = 0;
  bool excludes(double ratio) const { return ratio < low || ratio > high; }
};

// 95 % interval of median(b) / median(a), by percentiles of the resampled ratio; none if a sample has fewer than
// kMinToCompare values or a's median is not positive.
std::optional<RatioInterval> median_ratio_interval(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

// Two-sided p of Mann and Whitney's U with midranks, by the normal approximation with the correction for ties; none if
// a sample has fewer than kMinToCompare values, 1 if all values are equal.
std::optional<double> mann_whitney_p(std::span<const std::int64_t> a, std::span<const std::int64_t> b);

}  // namespace jaxprof::study
