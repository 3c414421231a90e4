// Fewer points than there are, and none of the extremes lost: what stands out is what a figure is looked at for. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "merge/study/time_span.h"

namespace jaxprof::report {

// Which points to keep: of each of `n_bins` equal stretches of the range of `at` the one with the least value and the
// one with the largest, ascending. All, if there are at most 2 n_bins. `at` ascends; `value` is as long.
std::vector<std::size_t> extremes_by_bin(std::span<const std::int64_t> at, std::span<const std::int64_t> value,
                                         std::size_t n_bins);

// Of a map of n_rows x n_columns, `per_bin` neighbouring columns made one, with the value that is farthest from 0 (of
// equal ones the first); NaN is missing and never beats a value.
std::vector<double> farthest_of_columns(std::span<const double> values, std::size_t n_rows, std::size_t n_columns,
                                        std::size_t per_bin);

// How many columns to make one so that at most `most` are left; 1 if they are few.
std::size_t columns_per_bin(std::size_t n_columns, std::size_t most);

// Stretches in order of their begin, where those at most `gap_ns` apart are one. None is lost: it is drawn, wider.
std::vector<study::TimeSpan> joined_spans(std::vector<study::TimeSpan> spans, std::int64_t gap_ns);

}  // namespace jaxprof::report
