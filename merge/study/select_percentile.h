// Percentiles of samples that are too large to sort for two or three of them.
#pragma once

#include <cstdint>
#include <span>

namespace jaxprof::study {

// The same number as percentile() of the ascending values, at least one; moves `values` about.
double select_percentile(std::span<std::int64_t> values, double share);

}  // namespace jaxprof::study
