// The GPU's own clock, as CUPTI presents it: CLOCK_REALTIME, but wrong by an offset, a drift and a step that a test
// chooses. An operation's truth is CLOCK_MONOTONIC_RAW, so each stamp is carried over by the difference of the two
// clocks at that moment: no error of an old anchor adds to the errors that are scripted.
#pragma once

#include <time.h>

#include <atomic>
#include <cstdint>

namespace jaxprof::fake_cuda {

std::int64_t raw_now_ns();

// Any thread.
class GpuClock {
 public:
  GpuClock();
  // GPU time of a CLOCK_MONOTONIC_RAW stamp of the last seconds.
  std::int64_t of_raw(std::int64_t raw_ns) const;
  // CLOCK_MONOTONIC_RAW of a CLOCK_REALTIME stamp of the last seconds, and not scripted at all.
  static std::int64_t raw_of_realtime(std::int64_t realtime_ns);
  void step(std::int64_t by_ns) { stepped_ns_ += by_ns; }

 private:
  const std::int64_t origin_raw_ns_;
  std::atomic<std::int64_t> stepped_ns_{0};
};

}  // namespace jaxprof::fake_cuda
