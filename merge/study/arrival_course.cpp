#include "merge/study/arrival_course.h"

#include <algorithm>
#include <cmath>

namespace jaxprof::study {
namespace {

double deviation(const std::vector<std::int64_t>& off_ns, std::size_t begin, std::size_t end) {
  double sum = 0;
  double squares = 0;
  double n = 0;
  for (std::size_t i = begin; i < end; ++i) {
    if (off_ns[i] == kNoLateness) continue;
    const auto off = static_cast<double>(off_ns[i]);
    sum += off;
    squares += off * off;
    n += 1;
  }
  return n < 2 ? 0 : std::sqrt(std::max(0.0, (squares - sum * sum / n) / (n - 1)));
}

}  // namespace

std::vector<CoursePoint> arrival_course(const StragglerFacts& facts, const Subjects& ranks, std::uint32_t subject) {
  const Arrivals& arrivals = facts.arrivals();
  std::vector<CoursePoint> points;
  for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
    if (facts.judged().is_counted[instance] == 0) continue;
    for (std::size_t i = arrivals.begin(instance); i < arrivals.end(instance); ++i) {
      const std::int64_t off_ns = facts.fault().lateness.off_middle_ns[i];
      if (ranks.of(i) != subject || off_ns == kNoLateness) continue;
      points.push_back({arrivals.members.start_ns[i], off_ns, arrivals.instances.step[instance]});
    }
  }
  std::stable_sort(points.begin(), points.end(),
                   [](const CoursePoint& a, const CoursePoint& b) { return a.t_ns < b.t_ns; });
  return points;
}

std::vector<CourseBand> arrival_bands(const runfile::RunTables& run, const StragglerFacts& facts) {
  const Arrivals& arrivals = facts.arrivals();
  const std::vector<std::int64_t>& off_ns = facts.fault().lateness.off_middle_ns;
  const std::vector<std::int64_t> clock_ns = resolutions_ns(run, arrivals);
  std::vector<CourseBand> bands;
  for (std::size_t instance = 0; instance < arrivals.size(); ++instance) {
    const std::size_t begin = arrivals.begin(instance);
    if (facts.judged().is_counted[instance] == 0 || begin == arrivals.end(instance)) continue;
    if (off_ns[begin] == kNoLateness) continue;
    bands.push_back(
        {arrivals.instances.last_ns[instance], deviation(off_ns, begin, arrivals.end(instance)), clock_ns[instance]});
  }
  std::stable_sort(bands.begin(), bands.end(),
                   [](const CourseBand& a, const CourseBand& b) { return a.t_ns < b.t_ns; });
  return bands;
}

}  // namespace jaxprof::study
