// The shape of a sample in one row. Percentiles are numpy's default (linear interpolation, type 7) to the last bit, so
// that a reader can reproduce them; a tail that the sample is too small to show is missing, not a maximum in disguise.
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

// How wide it is, relative to its middle; none where the middle is 0 or the sample too small.
struct Width {
  std::optional<double> iqr;    // p75 - p25
  std::optional<double> cv;     // std / mean
  std::optional<double> qcd;    // (p75 - p25) / (p75 + p25)
  std::optional<double> rcv;    // 1.4826 x median of |value - p50| / p50: the cv of a normal distribution
  std::optional<double> tail;   // p99 / p50
  std::optional<double> span;   // (p95 - p05) / p50
  std::optional<double> sarle;  // bimodality coefficient, n >= kMinForModes; a uniform distribution has 5/9
};
inline constexpr std::size_t kMinForModes = 50;
inline constexpr double kUniformSarle = 5.0 / 9;

// Percentile `share` in [0, 1] of ascending values, at least one; type 7.
double percentile(std::span<const std::int64_t> ascending, double share);

Distribution describe(std::vector<std::int64_t> values);
// The same without a copy; reorders the values.
Distribution describe_in_place(std::span<std::int64_t> values);
// Of the same values; overwrites them.
Width width_of(const Distribution& distribution, std::span<std::int64_t> values);

}  // namespace jaxprof::study
