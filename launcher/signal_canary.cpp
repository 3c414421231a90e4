#include "launcher/signal_canary.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kPatience_ns = 50'000'000;
constexpr std::int64_t kMemory_ns = 1'000'000'000;

// The canary's life: as small as it can be, since it holds a copy of the wrapper's memory.
template <typename Report>
[[noreturn]] void sing(const sigset_t& watched, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prctl(PR_SET_NAME, "jaxprof-canary");
  // Whoever waits for the end of the job's output must not wait for the canary.
  for (int fd = 0; fd <= 2; ++fd) {
    if (fd != out) close(fd);
  }
  for (;;) {
    const int signal = sigwaitinfo(&watched, nullptr);
    if (signal <= 0) continue;
    const Report report{clock_ns(CLOCK_MONOTONIC), signal, 0};
    if (write(out, &report, sizeof report) != sizeof report) _exit(0);
  }
}

}  // namespace

SignalCanary::SignalCanary(const sigset_t& watched) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  reports_fd_.reset(ends[0]);
  UniqueFd out(ends[1]);
  fcntl(reports_fd_.get(), F_SETFL, O_NONBLOCK);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) sing<Report>(watched, out.get(), parent);
}

SignalCanary::~SignalCanary() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void SignalCanary::read_reports(int timeout_ms) {
  pollfd ready{reports_fd_.get(), POLLIN, 0};
  if (poll(&ready, 1, timeout_ms) <= 0) return;
  Report report;
  // Writes of this size are whole (PIPE_BUF).
  while (read(reports_fd_.get(), &report, sizeof report) == sizeof report) reports_.push_back(report);
}

bool SignalCanary::has_heard(int signal) {
  const std::int64_t begin_ns = clock_ns(CLOCK_MONOTONIC);
  for (std::int64_t now_ns = begin_ns;; now_ns = clock_ns(CLOCK_MONOTONIC)) {
    const std::int64_t left_ns = begin_ns + kPatience_ns - now_ns;
    read_reports(0);
    std::erase_if(reports_, [now_ns](const Report& r) { return r.monotonic_ns < now_ns - kMemory_ns; });
    const auto found =
        std::find_if(reports_.begin(), reports_.end(), [signal](const Report& r) { return r.signal == signal; });
    if (found != reports_.end()) {
      reports_.erase(found);
      return true;
    }
    if (left_ns <= 0) return false;
    read_reports(static_cast<int>(left_ns / 1'000'000) + 1);
  }
}

}  // namespace jaxprof::launcher
