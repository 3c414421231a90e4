#include "launcher/signal_canary.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "agent/base/clocks.h"

namespace jaxprof::launcher {
namespace {

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

void SignalCanary::listen() {
  if (!reports_fd_) return;
  Report report;
  // Writes of this size are whole (PIPE_BUF).
  while (read(reports_fd_.get(), &report, sizeof report) == sizeof report) reports_.push_back(report);
  const std::int64_t oldest_ns = clock_ns(CLOCK_MONOTONIC) - kMemory_ns;
  std::erase_if(reports_, [oldest_ns](const Report& r) { return r.monotonic_ns < oldest_ns; });
}

bool SignalCanary::takes_report_of(int signal) {
  const auto found =
      std::find_if(reports_.begin(), reports_.end(), [signal](const Report& r) { return r.signal == signal; });
  if (found == reports_.end()) return false;
  reports_.erase(found);
  return true;
}

}  // namespace jaxprof::launcher
