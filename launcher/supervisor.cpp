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
  relay_.reset();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
  sigaction(SIGCHLD, &original_chld_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

Status Supervisor::start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                         OnHardKill on_hard_kill) {
  earlier_children_ = own_children();
  relay_.emplace(held_);
  auto job = start_job({command, environment, original_mask_, original_chld_, on_hard_kill});
  if (!job) return tl::unexpected(std::move(job.error()));
  job_ = *job;
  return {};
}

bool Supervisor::reap(JobStatus* status) {
  bool has_reaped = false;
  int word = 0;
  for (pid_t pid; (pid = waitpid(-1, &word, WNOHANG | WUNTRACED)) > 0; has_reaped = true) {
    const bool is_command = pid == job_.pid && !has_command_ended_;
    if (WIFSTOPPED(word)) {
      if (is_command) stop_to_follow_ = WSTOPSIG(word);
      continue;
    }
    relay_->is_reaped(pid);
    if (!is_command) continue;
    has_command_ended_ = true;
    stop_to_follow_ = 0;
    job_control_.take_terminal_back();
    status->exec_errno = job_.exec_errno;
    if (WIFSIGNALED(word)) {
      status->signal = WTERMSIG(word);
    } else {
      status->exit_code = WEXITSTATUS(word);
    }
  }
  return has_reaped;
}

void Supervisor::follow_stop() {
  // SIGSTOP would undo a SIGCONT that waits to be taken, and the job may be yet to have one that was.
  sigset_t pending;
  sigpending(&pending);
  if (sigismember(&pending, SIGCONT) == 1 || relay_->is_undecided(SIGCONT)) return;
  const int signal = std::exchange(stop_to_follow_, 0);
  if (!JobControl::is_stopped(job_.pid)) return;
  relay_->forget_stops();
  job_control_.follow_stop(job_.pid, signal);
}

void Supervisor::take(const siginfo_t& signal) {
  const int number = signal.si_signo;
  if (asks_to_end(number) && !std::exchange(is_asked_to_end_, true)) tell_asked_to_end_();
  if (number == SIGCHLD || job_control_.is_own_waking(signal)) return;
  relay_->take(signal);
}

std::vector<pid_t> Supervisor::rest_of_job() const {
  std::vector<pid_t> children = own_children();
  const std::lock_guard lock(disregarded_mutex_);
  std::erase_if(children, [this](pid_t child) {
    return relay_->is_canary(child) || contains(earlier_children_, child) || contains(disregarded_, child);
  });
  return children;
}

void Supervisor::decide() {
  if (has_command_ended_) {
    relay_->decide_for_rest([this] { return rest_of_job(); });
  } else {
    relay_->decide_for_job(job_.pid);
  }
}

void Supervisor::serve_signals() {
  std::int64_t wait_ns = job_control_.looks_every_ns();
  if (std::int64_t deadline_ns = 0; relay_->has_deadline(&deadline_ns)) {
    const std::int64_t left_ns = std::max<std::int64_t>(deadline_ns - clock_ns(CLOCK_MONOTONIC), 1);
    wait_ns = wait_ns == 0 ? left_ns : std::min(wait_ns, left_ns);
  }
  const timespec limit{0, static_cast<long>(wait_ns)};
  siginfo_t signal;
  if (sigtimedwait(&held_, &signal, wait_ns == 0 ? nullptr : &limit) > 0) take(signal);
  if (!has_command_ended_ && job_control_.looks_every_ns() > 0) job_control_.share_terminal(job_.pid);
  decide();
}

void Supervisor::disregard(pid_t pid) {
  const std::lock_guard lock(disregarded_mutex_);
  disregarded_.push_back(pid);
}

void Supervisor::kill_job() {
  is_to_be_killed_.store(true);
  kill(getpid(), SIGCHLD);  // wakes wait(), and is none of the job's
}

JobStatus Supervisor::wait(WaitFor what) {
  JobStatus status;
  for (;;) {
    const bool has_reaped = reap(&status);
    if (has_command_ended_ && what == WaitFor::kPrimary) break;
    // The kernel's list of children may miss one while another ends: it is believed if none has.
    if (has_command_ended_ && !has_reaped && rest_of_job().empty() && !reap(&status)) break;
    if (stop_to_follow_ != 0) follow_stop();
    if (!has_command_ended_ && is_to_be_killed_.exchange(false)) kill(job_.pid, SIGKILL);
    if (!has_reaped) serve_signals();
  }
  relay_.reset();
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
