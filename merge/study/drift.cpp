// Values by step (counted, not sorted), the median of each, then all pairs.
#include "merge/study/drift.h"

#include <algorithm>
#include <vector>

namespace jaxprof::study {
namespace {

struct StepMedian {
  double step = 0;
  double median_ns = 0;
};

double median(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

std::vector<StepMedian> medians_of(std::span<const std::int64_t> values_ns, std::span<const std::uint32_t> steps) {
  if (steps.empty()) return {};
  std::vector<std::size_t> end(std::size_t{*std::max_element(steps.begin(), steps.end())} + 1, 0);
  for (const std::uint32_t step : steps) ++end[step];
  std::vector<std::size_t> next(end.size(), 0);
  for (std::size_t step = 1; step < end.size(); ++step) {
    end[step] += end[step - 1];
    next[step] = end[step - 1];
  }
  std::vector<double> sorted(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) sorted[next[steps[i]]++] = static_cast<double>(values_ns[i]);
  std::vector<StepMedian> medians;
  for (std::size_t step = 0, begin = 0; step < end.size(); begin = end[step++]) {
    if (begin == end[step]) continue;
    std::vector<double> values(sorted.begin() + static_cast<std::ptrdiff_t>(begin),
                               sorted.begin() + static_cast<std::ptrdiff_t>(end[step]));
    medians.push_back({static_cast<double>(step), median(values)});
  }
  return medians;
}

std::vector<StepMedian> thinned(std::vector<StepMedian> medians) {
  if (medians.size() <= kMostStepsForDrift) return medians;
  std::vector<StepMedian> kept;
  for (std::size_t i = 0; i < kMostStepsForDrift; ++i) {
    kept.push_back(medians[i * (medians.size() - 1) / (kMostStepsForDrift - 1)]);
  }
  return kept;
}

}  // namespace

std::optional<double> drift_of(std::span<const std::int64_t> values_ns, std::span<const std::uint32_t> steps) {
  const std::vector<StepMedian> medians = thinned(medians_of(values_ns, steps));
  if (medians.size() < kMinStepsForDrift) return std::nullopt;
  std::vector<double> slopes;
  std::vector<double> heights;
  for (std::size_t i = 0; i < medians.size(); ++i) {
    heights.push_back(medians[i].median_ns);
    for (std::size_t k = i + 1; k < medians.size(); ++k) {
      slopes.push_back((medians[k].median_ns - medians[i].median_ns) / (medians[k].step - medians[i].step));
    }
  }
  const double middle_ns = median(heights);
  if (!(middle_ns > 0)) return std::nullopt;
  return median(slopes) * (medians.back().step - medians.front().step) / middle_ns;
}

}  // namespace jaxprof::study
