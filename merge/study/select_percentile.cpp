// Only the two values between which the percentile lies are put in their places.
#include "merge/study/select_percentile.h"

#include <algorithm>
#include <array>

#include "merge/study/distribution.h"

namespace jaxprof::study {

double select_percentile(std::span<std::int64_t> values, double share) {
  const double position = share * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(position);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const auto rest = values.begin() + below + 1;
  if (rest == values.end()) return static_cast<double>(values[static_cast<std::size_t>(below)]);
  const std::array<std::int64_t, 2> neighbours = {values[static_cast<std::size_t>(below)],
                                                  *std::min_element(rest, values.end())};
  return percentile(neighbours, position - static_cast<double>(below));
}

}  // namespace jaxprof::study
