#include "netsampler/clock/look_schedule.h"

#include <algorithm>

namespace jaxprof::netsampler {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kFirstLooksNs[] = {100 * kMillisecond, 200 * kMillisecond, 500 * kMillisecond,
                                          1000 * kMillisecond};  // after the begin

}  // namespace

void LookSchedule::looked(std::int64_t now_ns, std::int64_t took_ns, bool has_news) {
  const std::int64_t rest_ns = now_ns + kPausePerLook * std::max<std::int64_t>(took_ns, 0);
  for (const std::int64_t after_ns : kFirstLooksNs) {
    if (begin_ns_ + after_ns <= now_ns) continue;
    next_ns_ = std::max(begin_ns_ + after_ns, rest_ns);
    return;
  }
  if (has_news) pause_ns_ = kShortestPauseNs;
  next_ns_ = std::max(now_ns + pause_ns_, rest_ns);
  pause_ns_ = std::min(2 * pause_ns_, kLongestPauseNs);
}

}  // namespace jaxprof::netsampler
