#include "launcher/supervisor.h"

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "agent/base/clocks.h"
#include "launcher/own_children.h"

namespace jaxprof::launcher {
namespace {

// Faults of the wrapper itself, and what stops who uses the terminal from the background: those act on the wrapper as
// on anyone.
constexpr int kNotHeld[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTTIN, SIGTTOU};

// A sender may take so long from one process of the task to the next.
constexpr std::int64_t kPatience_ns = 50'000'000;
// A canary that is sent a signal and does not come to report it: looked at again after, for at most.
constexpr std::int64_t kSecondLook_ns = 5'000'000;
constexpr std::int64_t kMostPatience_ns = 1'000'000'000;

bool asks_to_end(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT || signal == SIGXCPU;
}

// Lets the kernel do by default with `signal`, which is blocked, what it does with it.
void take_by_default(int signal) {
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, signal);
  kill(getpid(), signal);
  sigprocmask(SIG_UNBLOCK, &own, nullptr);
}

bool contains(const std::vector<pid_t>& pids, pid_t pid) {
  return std::find(pids.begin(), pids.end(), pid) != pids.end();
}

}  // namespace

Supervisor::Supervisor() {
  sigfillset(&held_);
  for (const int signal : kNotHeld) sigdelset(&held_, signal);
  sigprocmask(SIG_BLOCK, &held_, &original_mask_);
  // A SIGCHLD that is ignored, as some launchers leave it, would lose the job's status.
  struct sigaction standard {};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &original_chld_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

void Supervisor::let_go() {
  canary_.reset();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  sigaction(SIGCHLD, &original_chld_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

Status Supervisor::start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         OnHardKill on_hard_kill) {
  earlier_children_ = own_children();
  canary_.emplace(held_);
  auto job = start_job({command, environment, original_mask_, original_chld_, on_hard_kill});
  if (!job) return tl::unexpected(std::move(job.error()));
  job_ = *job;
  return {};
}

bool Supervisor::reap(JobStatus* status) {
  bool has_reaped = false;
  int word = 0;
  for (pid_t pid; (pid = waitpid(-1, &word, WNOHANG)) > 0; has_reaped = true) {
    if (pid == canary_->pid()) canary_->is_reaped();
    if (pid != job_.pid || has_command_ended_) continue;
    has_command_ended_ = true;
    status->exec_errno = job_.exec_errno;
    if (WIFSIGNALED(word)) {
      status->signal = WTERMSIG(word);
    } else {
      status->exit_code = WEXITSTATUS(word);
    }
  }
  return has_reaped;
}

void Supervisor::take(const siginfo_t& signal) {
  const int number = signal.si_signo;
  if (asks_to_end(number) && !std::exchange(is_asked_to_end_, true)) tell_asked_to_end_();
  if (number == SIGCHLD) return;
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  undecided_.push_back({signal, now_ns, now_ns + (canary_->is_alive() ? kPatience_ns : 0)});
}

std::vector<pid_t> Supervisor::rest_of_job() const {
  std::vector<pid_t> children = own_children();
  std::erase_if(children,
                [this](pid_t child) { return child == canary_->pid() || contains(earlier_children_, child); });
  return children;
}

void Supervisor::pass_on(const siginfo_t& signal) const {
  for (const pid_t pid : has_command_ended_ ? rest_of_job() : std::vector<pid_t>{job_.pid}) {
    if (signal.si_code == SI_QUEUE) {
      sigqueue(pid, signal.si_signo, signal.si_value);
    } else {
      kill(pid, signal.si_signo);
    }
  }
}

void Supervisor::decide() {
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  std::erase_if(undecided_, [this, now_ns](Undecided& one) {
    const int number = one.signal.si_signo;
    const bool is_due = now_ns >= one.deadline_ns;
    // In this order: a canary that was at rest has reported all that it got.
    const CanaryState state = is_due ? canary_->look_for(number) : CanaryState::kBusy;
    canary_->listen();
    if (canary_->takes_report_of(number)) {
      // Ctrl-Z: the shell waits for the wrapper to stop with its process group.
      if (number == SIGTSTP) stop_with_group();
      return true;
    }
    if (!is_due) return false;
    if (state != CanaryState::kAtRest && now_ns < one.since_ns + kMostPatience_ns) {
      one.deadline_ns = now_ns + kSecondLook_ns;
      return false;
    }
    if (state != CanaryState::kGotIt) pass_on(one.signal);
    return true;
  });
}

void Supervisor::stop_with_group() const {
  take_by_default(SIGTSTP);
  // Here again after SIGCONT, or at once: the kernel does not stop a group that no shell looks after.
  sigprocmask(SIG_BLOCK, &held_, nullptr);
}

void Supervisor::serve_signals() {
  timespec left{};
  if (!undecided_.empty()) {
    std::int64_t deadline_ns = undecided_.front().deadline_ns;
    for (const Undecided& one : undecided_) deadline_ns = std::min(deadline_ns, one.deadline_ns);
    left.tv_nsec = static_cast<long>(std::max<std::int64_t>(deadline_ns - clock_ns(CLOCK_MONOTONIC), 0));
  }
  siginfo_t signal;
  if (sigtimedwait(&held_, &signal, undecided_.empty() ? nullptr : &left) > 0) take(signal);
  decide();
}

JobStatus Supervisor::wait(WaitFor what) {
  JobStatus status;
  for (;;) {
    const bool has_reaped = reap(&status);
    if (has_command_ended_ && what == WaitFor::kPrimary) break;
    // The kernel's list of children may miss one while another ends: it is believed if none has.
    if (has_command_ended_ && !has_reaped && rest_of_job().empty() && !reap(&status)) break;
    if (!has_reaped) serve_signals();
  }
  canary_.reset();
  return status;
}

bool Supervisor::is_asked_to_end() {
  sigset_t pending;
  if (sigpending(&pending) == 0) {
    for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGXCPU}) {
      if (sigismember(&pending, signal) == 1) is_asked_to_end_ = true;
    }
  }
  return is_asked_to_end_;
}

void end_like(const JobStatus& status) {
  if (status.signal == 0) _exit(status.exit_code);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  ::signal(status.signal, SIG_DFL);
  take_by_default(status.signal);
  _exit(128 + status.signal);
}

}  // namespace jaxprof::launcher
