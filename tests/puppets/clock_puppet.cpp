// clock_puppet SECONDS PERIOD_US LOG: four NVTX marks a period, numbered by their payload, and what the clocks read
// around each; what follows the first is made from warm caches and told within a microsecond. CLOCK_MONOTONIC_RAW is
// read twice over: as the C library gives it, which a test may have skewed, and by the kernel's own call, past
// everything that is preloaded. Lines of LOG are "N TRUE_NS RAW_NS RAW_NS TRUE_NS", two before and two after the mark;
// LOG is written when all is over, so that writing delays no mark. Ends by itself after SECONDS; a signal ends it too,
// and then LOG has what was marked until then. No MPI.
#include <nvtx3/nvToolsExt.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/puppets/clock.h"

namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr int kMarksPerPeriod = 4;

struct Tick {
  std::int64_t true_before_ns;
  std::int64_t raw_before_ns;
  std::int64_t raw_after_ns;
  std::int64_t true_after_ns;
};

volatile sig_atomic_t is_ended = 0;

std::int64_t true_raw_ns() {
  timespec now{};
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * kSecondNs + now.tv_nsec;
}

void mark(std::uint64_t number) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_ASCII;
  event.message.ascii = "tick";
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = number;
  nvtxMarkEx(&event);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: clock_puppet SECONDS PERIOD_US LOG\n");
    return 2;
  }
  struct sigaction action {};
  action.sa_handler = [](int) { is_ended = 1; };
  sigaction(SIGTERM, &action, nullptr);
  const std::int64_t end_ns = true_raw_ns() + std::strtoll(argv[1], nullptr, 10) * kSecondNs;
  const long period_us = std::strtol(argv[2], nullptr, 10);
  const timespec period{period_us / 1'000'000, period_us % 1'000'000 * 1000};
  std::vector<Tick> ticks;
  while (is_ended == 0 && true_raw_ns() < end_ns) {
    for (int i = 0; i < kMarksPerPeriod; ++i) {
      Tick tick{};
      tick.true_before_ns = true_raw_ns();
      tick.raw_before_ns = jaxprof::puppets::raw_ns();
      mark(ticks.size());
      tick.raw_after_ns = jaxprof::puppets::raw_ns();
      tick.true_after_ns = true_raw_ns();
      ticks.push_back(tick);
    }
    nanosleep(&period, nullptr);
  }
  std::FILE* log = std::fopen(argv[3], "w");
  if (log == nullptr) return 1;
  for (std::size_t number = 0; number < ticks.size(); ++number) {
    const Tick& tick = ticks[number];
    std::fprintf(log, "%zu %" PRId64 " %" PRId64 " %" PRId64 " %" PRId64 "\n", number, tick.true_before_ns,
                 tick.raw_before_ns, tick.raw_after_ns, tick.true_after_ns);
  }
  return std::fclose(log) == 0 ? 0 : 1;
}
