#include "merge/report/down_sampling.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace jaxprof::report {

std::vector<std::size_t> extremes_by_bin(std::span<const std::int64_t> at, std::span<const std::int64_t> value,
                                         std::size_t n_bins) {
  std::vector<std::size_t> kept;
  if (at.size() <= 2 * n_bins || n_bins == 0) {
    for (std::size_t i = 0; i < at.size(); ++i) kept.push_back(i);
    return kept;
  }
  const double begin = static_cast<double>(at.front());
  const double length = std::max(1.0, static_cast<double>(at.back()) - begin);
  const auto bin_of = [&](std::size_t i) {
    const double place = (static_cast<double>(at[i]) - begin) / length * static_cast<double>(n_bins);
    return std::min(n_bins - 1, static_cast<std::size_t>(std::max(0.0, place)));
  };
  for (std::size_t first = 0; first < at.size();) {
    std::size_t least = first;
    std::size_t most = first;
    std::size_t i = first + 1;
    for (; i < at.size() && bin_of(i) == bin_of(first); ++i) {
      if (value[i] < value[least]) least = i;
      if (value[i] > value[most]) most = i;
    }
    kept.push_back(std::min(least, most));
    if (least != most) kept.push_back(std::max(least, most));
    first = i;
  }
  return kept;
}

std::vector<double> farthest_of_columns(std::span<const double> values, std::size_t n_rows, std::size_t n_columns,
                                        std::size_t per_bin) {
  const std::size_t n_bins = (n_columns + per_bin - 1) / per_bin;
  std::vector<double> kept(n_rows * n_bins, std::numeric_limits<double>::quiet_NaN());
  for (std::size_t row = 0; row < n_rows; ++row) {
    for (std::size_t column = 0; column < n_columns; ++column) {
      const double value = values[row * n_columns + column];
      double& cell = kept[row * n_bins + column / per_bin];
      if (!std::isnan(value) && (std::isnan(cell) || std::abs(value) > std::abs(cell))) cell = value;
    }
  }
  return kept;
}

std::size_t columns_per_bin(std::size_t n_columns, std::size_t most) {
  return std::max<std::size_t>(1, (n_columns + most - 1) / std::max<std::size_t>(1, most));
}

std::vector<study::TimeSpan> joined_spans(std::vector<study::TimeSpan> spans, std::int64_t gap_ns) {
  std::sort(spans.begin(), spans.end(), [](const auto& a, const auto& b) { return a.begin_ns < b.begin_ns; });
  std::vector<study::TimeSpan> joined;
  for (const study::TimeSpan& span : spans) {
    if (!joined.empty() && study::span_ns(joined.back().end_ns, span.begin_ns) <= gap_ns) {
      joined.back().end_ns = std::max(joined.back().end_ns, span.end_ns);
    } else {
      joined.push_back(span);
    }
  }
  return joined;
}

}  // namespace jaxprof::report
