// The shape of a sample in one row. Percentiles are numpy's default (linear interpolation, type 7), so that a reader
// can reproduce them; a tail that the sample is too small to show is missing, not a maximum in disguise.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace jaxprof::study {

inline constexpr std::size_t kMinForP05 = 20;   // p05 and p95 need this many values
inline constexpr std::size_t kMinForP01 = 100;  // p01 and p99

struct Distribution {
  std::size_t n = 0;
  // None without a value.
  std::optional<std::int64_t> min, max;
  std::optional<double> p25, p50, p75, mean;
  std::optional<double> p05, p95;  // n >= kMinForP05
  std::optional<double> p01, p99;  // n >= kMinForP01
  std::optional<double> std;       // sample (n - 1), n >= 2
};

// Percentile `share` in [0, 1] of ascending values, at least one; type 7.
double percentile(std::span<const std::int64_t> ascending, double share);

// Sorts `values` in passing.
Distribution describe(std::vector<std::int64_t> values);

}  // namespace jaxprof::study
