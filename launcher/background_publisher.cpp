#include "launcher/background_publisher.h"

#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kPeriodNs = 1'500'000'000;
constexpr std::int64_t kHurriedPauseNs = 100'000'000;

}  // namespace

BackgroundPublisher::BackgroundPublisher(SpoolCollection& spools, PublishingRequests& requests, PublishTurns turns,
                                         std::uint64_t phase)
    : spools_(spools),
      requests_(requests),
      turns_(std::move(turns)),
      phase_ns_(static_cast<std::int64_t>(phase % static_cast<std::uint64_t>(kPeriodNs))) {}

void BackgroundPublisher::run() {
  const Pace pace{[this] { return requests_.look(), !requests_.ended_job(); }, [this] { return begin_piece(); },
                  [this](std::uint64_t bytes) { end_piece(bytes); }};
  std::int64_t next_ns = clock_ns(CLOCK_MONOTONIC) + phase_ns_;
  while (!requests_.ended_job()) {
    const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    if (requests_.is_hurried()) next_ns = std::min(next_ns, now_ns + kHurriedPauseNs);
    if (now_ns < next_ns) {
      requests_.wait(next_ns - now_ns);
      continue;
    }
    spools_.pass(pace);
    next_ns = std::max(now_ns + kPeriodNs, clock_ns(CLOCK_MONOTONIC) + kHurriedPauseNs);
  }
}

bool BackgroundPublisher::begin_piece() {
  for (;;) {
    requests_.look();
    if (requests_.ended_job()) return false;
    if (requests_.is_hurried()) return true;
    const std::int64_t wait_ns = turns_.begin(clock_ns(CLOCK_MONOTONIC));
    has_turn_ = wait_ns == 0;
    if (has_turn_) return true;
    // Tasks that wait for the same instant do not all come at it.
    requests_.wait(wait_ns + phase_ns_ % 10'000'000);
  }
}

void BackgroundPublisher::end_piece(std::uint64_t copied_bytes) {
  if (has_turn_) turns_.end(copied_bytes);
  has_turn_ = false;
}

void become_idle() {
  // Of the thread alone, both (setpriority(2), ioprio_set(2)). Refused or unknown, they change nothing.
  constexpr int kIoprioWhoProcess = 1;
  constexpr int kIoprioIdle = 3 << 13;
  const auto thread = static_cast<id_t>(syscall(SYS_gettid));
  if (setpriority(PRIO_PROCESS, thread, 19) != 0) return;
  syscall(SYS_ioprio_set, kIoprioWhoProcess, thread, kIoprioIdle);
}

}  // namespace jaxprof::launcher
