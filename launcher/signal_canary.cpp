#include "launcher/signal_canary.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>

#include "agent/base/atomic_file.h"
#include "agent/base/clocks.h"
#include "launcher/foreign_descriptors.h"

namespace jaxprof::launcher {
namespace {

// The canary's life: as small as it can be, since it holds a copy of the wrapper's memory.
[[noreturn]] void sing(const sigset_t& watched, int out, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prctl(PR_SET_NAME, "jaxprof-canary");
  // Whoever waits for the end of a pipe of the job's must not wait for the canary.
  close_all_descriptors_but(out);
  for (;;) {
    const int signal = sigwaitinfo(&watched, nullptr);
    if (signal <= 0) continue;
    if (write(out, &signal, sizeof signal) != sizeof signal) _exit(0);
  }
}

// What follows `name` (with its colon) and a tab in a status file of /proc; "" if it is not there.
std::string_view field(std::string_view status, std::string_view name) {
  for (std::size_t at = 0; at < status.size();) {
    const std::string_view line = status.substr(at, status.find('\n', at) - at);
    if (line.starts_with(name)) return line.substr(std::min(line.size(), name.size() + 1));
    at += line.size() + 1;
  }
  return {};
}

bool is_in_mask(std::string_view hexadecimal, int signal) {
  std::uint64_t mask = 0;
  std::from_chars(hexadecimal.data(), hexadecimal.data() + hexadecimal.size(), mask, 16);
  return ((mask >> (signal - 1)) & 1) != 0;
}

}  // namespace

SignalCanary::SignalCanary(const sigset_t& watched, CanaryGroup group) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return;
  reports_fd_.reset(ends[0]);
  UniqueFd out(ends[1]);
  fcntl(reports_fd_.get(), F_SETFL, O_NONBLOCK);
  const pid_t parent = getpid();
  pid_ = fork();
  if (pid_ == 0) sing(watched, out.get(), parent);
  // By the parent, so that it is done before the first signal can be judged by it.
  if (pid_ > 0 && group == CanaryGroup::kOwn) setpgid(pid_, pid_);
}

SignalCanary::~SignalCanary() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

CanaryState SignalCanary::look_for(int signal) const {
  if (pid_ <= 0) return CanaryState::kAtRest;
  const auto status = read_small_file("/proc/" + std::to_string(pid_) + "/status");
  if (!status) return CanaryState::kAtRest;
  if (is_in_mask(field(*status, "SigPnd:"), signal) || is_in_mask(field(*status, "ShdPnd:"), signal)) {
    return CanaryState::kGotIt;
  }
  const std::string_view state = field(*status, "State:");
  const bool is_at_rest = state.empty() || std::string_view("RDT").find(state.front()) == std::string_view::npos;
  return is_at_rest ? CanaryState::kAtRest : CanaryState::kBusy;
}

void SignalCanary::listen() {
  if (!reports_fd_) return;
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  int signal = 0;
  // Writes of this size are whole (PIPE_BUF).
  while (read(reports_fd_.get(), &signal, sizeof signal) == sizeof signal) reports_.push_back({now_ns, signal});
}

void SignalCanary::forget_before(std::int64_t oldest_ns) {
  std::erase_if(reports_, [oldest_ns](const Report& report) { return report.read_ns < oldest_ns; });
}

void SignalCanary::forget(int signal) {
  std::erase_if(reports_, [signal](const Report& report) { return report.signal == signal; });
}

bool SignalCanary::takes_report_of(int signal) {
  const auto found =
      std::find_if(reports_.begin(), reports_.end(), [signal](const Report& r) { return r.signal == signal; });
  if (found == reports_.end()) return false;
  reports_.erase(found);
  return true;
}

}  // namespace jaxprof::launcher
