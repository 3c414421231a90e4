#include "merge/assembly/run_time.h"

#include <algorithm>
#include <cstdio>
#include <ctime>

namespace jaxprof::assembly {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;

std::string utc_words(std::int64_t realtime_ns) {
  const std::time_t seconds = realtime_ns / kSecondNs;
  std::tm time{};
  if (realtime_ns < 0 || gmtime_r(&seconds, &time) == nullptr) return "an unknown time";
  char text[32];
  std::snprintf(text, sizeof text, "%02d:%02d:%02d.%03dZ", time.tm_hour, time.tm_min, time.tm_sec,
                static_cast<int>(realtime_ns % kSecondNs / 1'000'000));
  return text;
}

}  // namespace

std::optional<RecordedSpan> recorded_span(const SourceProcess& process) {
  const auto& anchors = process.trace.anchors();
  if (process.clock == nullptr || anchors.empty()) return std::nullopt;
  const auto [first, last] = std::minmax_element(anchors.begin(), anchors.end(),
                                                 [](const auto& a, const auto& b) { return a.counter < b.counter; });
  return RecordedSpan{process.clock->axis_ns(first->counter), process.clock->axis_ns(last->counter)};
}

RunTime::RunTime(const RunSources& sources) {
  for (const SourceProcess& process : sources.processes) {
    const auto span = recorded_span(process);
    if (span) begin_ns_ = std::min(begin_ns_.value_or(span->first_ns), span->first_ns);
  }
}

std::string RunTime::words(std::int64_t realtime_ns) const {
  std::string text = utc_words(realtime_ns);
  if (!begin_ns_ || realtime_ns < 0) return text;
  const double offset_s = static_cast<double>(realtime_ns) / 1e9 - static_cast<double>(*begin_ns_) / 1e9;
  char offset[64];
  std::snprintf(offset, sizeof offset, ", %.1f s %s the run began", offset_s < 0 ? -offset_s : offset_s,
                offset_s < 0 ? "before" : "after");
  return text + offset;
}

}  // namespace jaxprof::assembly
