#include "agent/base/clocks.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstring>
#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace jaxprof {
namespace {

#if defined(__x86_64__)
// CPUID 0x80000007, EDX bit 8: the counter runs at a constant rate in all P-, C- and T-states (Intel SDM vol. 3,
// "Invariant TSC").
bool has_invariant_counter() noexcept {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(0x80000007, &eax, &ebx, &ecx, &edx) != 0 && (edx & (1u << 8)) != 0;
}

bool kernel_keeps_time_with_tsc() noexcept {
  const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char name[8] = {};
  const ssize_t length = read(fd, name, sizeof name - 1);
  close(fd);
  return length >= 3 && std::strncmp(name, "tsc\n", 4) == 0;
}
#endif

}  // namespace

ClockId choose_event_clock() noexcept {
#if defined(__x86_64__)
  if (has_invariant_counter() && kernel_keeps_time_with_tsc()) return ClockId::kTsc;
#elif defined(__aarch64__)
  return ClockId::kCntvct;  // architected to run at a constant rate (Arm ARM, "The Generic Timer")
#endif
  return ClockId::kMonotonicRaw;
}

ClockAnchor take_anchor(ClockId event_clock, int attempts) noexcept {
  ClockAnchor best;
  for (int i = 0; i < attempts; ++i) {
    ClockAnchor anchor;
    const std::uint64_t before = read_event_clock(event_clock);
    anchor.monotonic_raw_ns = clock_ns(CLOCK_MONOTONIC_RAW);
    anchor.realtime_ns = clock_ns(CLOCK_REALTIME);
    anchor.monotonic_ns = clock_ns(CLOCK_MONOTONIC);
    const std::uint64_t after = read_event_clock(event_clock);
    anchor.bracket = after - before;
    anchor.counter = before + anchor.bracket / 2;
    if (i == 0 || anchor.bracket < best.bracket) best = anchor;
  }
  return best;
}

}  // namespace jaxprof
