#include "merge/study/idle_cause.h"

#include <array>

namespace jaxprof::study {

std::string_view word(IdleCause cause) {
  constexpr std::array<std::string_view, kIdleCauses> kWords = {"host", "launch", "other", "unknown"};
  return kWords[static_cast<std::size_t>(cause)];
}

IdleCause idle_cause(TimeSpan gap, const GpuWork* after, LaunchTimes& launches) {
  if (after == nullptr) return IdleCause::kUnknown;
  const std::int64_t launch_ns = launches.begin_ns(after->api);
  if (launch_ns == runfile::kNoTime) return IdleCause::kUnknown;
  if (launch_ns >= gap.begin_ns) return IdleCause::kHost;
  return span_ns(gap.begin_ns, gap.end_ns) < kLaunchGapNs ? IdleCause::kLaunch : IdleCause::kOther;
}

}  // namespace jaxprof::study
