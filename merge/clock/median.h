// The middle of some numbers: what half of them are below.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace jaxprof::clock {

// The value that a share of the values lie below; reorders them. 0 of none.
template <typename Number>
Number quantile(std::vector<Number>* values, double share) {
  if (values->empty()) return 0;
  const auto index = static_cast<std::ptrdiff_t>(share * static_cast<double>(values->size() - 1));
  std::nth_element(values->begin(), values->begin() + index, values->end());
  return (*values)[static_cast<std::size_t>(index)];
}
template <typename Number>
Number median(std::vector<Number>* values) {
  return quantile(values, 0.5);
}

}  // namespace jaxprof::clock
