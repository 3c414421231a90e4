#include "merge/assembly/windows.h"

#include <algorithm>
#include <limits>
#include <map>

namespace jaxprof::assembly {

std::vector<Segment> segments_of(const rundir::SpoolTrace& trace, const clock::AxisClock& clock) {
  std::map<std::uint32_t, Segment> by_number;
  for (const spool::SegmentState& state : trace.gpu().segments) {
    Segment& segment = by_number[state.segment];
    segment.number = state.segment;
    const std::int64_t time_ns = clock.axis_ns(state.stamp);
    if (state.is_open != 0) {
      segment.open_ns = time_ns;
      segment.open_cause = state.cause;
      segment.open_step = state.step;
    } else {
      segment.close_ns = time_ns;
      segment.close_cause = state.cause;
      segment.close_step = state.step;
    }
  }
  std::vector<Segment> segments;
  for (const auto& [number, segment] : by_number) segments.push_back(segment);
  return segments;
}

void find_first_steps(const runfile::StepTable& steps, std::vector<Segment>* segments) {
  for (Segment& segment : *segments) {
    if (segment.open_step > 0) {
      segment.first_step = static_cast<std::int64_t>(segment.open_step - 1);
      continue;
    }
    const auto first = std::find_if(steps.start_ns.begin(), steps.start_ns.end(),
                                    [&segment](std::int64_t start_ns) { return start_ns >= segment.open_ns; });
    if (first == steps.start_ns.end() || (segment.close_ns >= 0 && *first > segment.close_ns)) continue;
    segment.first_step = steps.step[static_cast<std::size_t>(first - steps.start_ns.begin())];
  }
}

bool is_in_window(const std::vector<Segment>& segments, std::int64_t start_ns, std::int64_t end_ns) {
  if (segments.empty()) return true;
  return std::any_of(segments.begin(), segments.end(), [start_ns, end_ns](const Segment& segment) {
    const std::int64_t until_ns = segment.close_ns >= 0 ? segment.close_ns : std::numeric_limits<std::int64_t>::max();
    return start_ns <= until_ns && end_ns >= segment.open_ns;
  });
}

}  // namespace jaxprof::assembly
