#include "agent/cupti/gpu_clock.h"

#include "agent/collect/event_sink.h"

namespace jaxprof::cupti {
namespace {
constexpr int kAttempts = 8;
}

std::uint64_t read_gpu_clock(Subscriber* subscriber) noexcept {
  std::uint64_t ns = 0;
  return subscriber->timestamp(&ns) == abi::kSuccess ? ns : 0;
}

void register_gpu_clock(Subscriber* subscriber) noexcept {
  spool::GpuClockState best{};
  best.bracket = UINT64_MAX;
  for (int i = 0; i < kAttempts; ++i) {
    const std::uint64_t before = collect::read_stamp();
    const std::uint64_t gpu_ns = read_gpu_clock(subscriber);
    const std::int64_t realtime_ns = clock_ns(CLOCK_REALTIME);
    const std::uint64_t bracket = collect::read_stamp() - before;
    if (gpu_ns == 0 || bracket >= best.bracket) continue;
    best.counter = before + bracket / 2;
    best.bracket = bracket;
    best.gpu_ns = static_cast<std::int64_t>(gpu_ns);
    best.realtime_ns = realtime_ns;
  }
  if (best.gpu_ns != 0) collect::append_state(spool::StateKind::kGpuClock, &best, sizeof best);
}

}  // namespace jaxprof::cupti
