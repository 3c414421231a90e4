#include "launcher/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {
namespace {

// Faults of the wrapper itself, and what stops and continues a process group: those act on the wrapper as on anyone.
constexpr int kNotHeld[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS, SIGTSTP, SIGTTIN, SIGTTOU};

constexpr std::int64_t kCanaryPatience_ns = 50'000'000;

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

bool asks_to_end(int signal) {
  return signal == SIGTERM || signal == SIGINT || signal == SIGHUP || signal == SIGQUIT || signal == SIGXCPU;
}

// Whoever reads the job's output waits for its end, and whoever writes its input for a reader: they must not wait for
// the wrapper. Stderr stays, for the last line.
void leave_streams_to_job() {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return;
  dup2(null.get(), STDIN_FILENO);
  dup2(null.get(), STDOUT_FILENO);
}

// What the child of fork needs, all of it made before.
struct ChildPlan {
  char* const* command;
  char* const* environment;
  const sigset_t* mask;
  const struct sigaction* chld;
  pid_t wrapper;
  int failure_fd;
};

[[noreturn]] void become_job(const ChildPlan& plan) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != plan.wrapper) _exit(128 + SIGKILL);
  sigaction(SIGCHLD, plan.chld, nullptr);
  sigprocmask(SIG_SETMASK, plan.mask, nullptr);
  execvpe(plan.command[0], plan.command, plan.environment);
  const int failure = errno;
  if (write(plan.failure_fd, &failure, sizeof failure) < 0) _exit(126);
  _exit(exit_code_of_exec_failure(failure));
}

}  // namespace

int exit_code_of_exec_failure(int exec_errno) {
  return exec_errno == ENOENT ? 127 : 126;
}

std::string describe_exec_failure(const std::string& program, int exec_errno) {
  return program + ": " + std::strerror(exec_errno);
}

int exec_in_place(const std::vector<std::string>& command) {
  execvp(command.front().c_str(), pointers(command).data());
  return errno;
}

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

Status Supervisor::start(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  canary_.emplace(held_);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot make a pipe");
  const UniqueFd failure_in(ends[0]);
  UniqueFd failure_out(ends[1]);
  const std::vector<char*> words = pointers(command);
  const std::vector<char*> entries = pointers(environment);
  const ChildPlan plan{words.data(), entries.data(), &original_mask_, &original_chld_, getpid(), failure_out.get()};
  job_ = fork();
  if (job_ == 0) become_job(plan);
  if (job_ < 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot start a process");
  failure_out.reset();
  leave_streams_to_job();
  // Returns when the exec has closed the other end, or failed.
  int failure = 0;
  ssize_t length;
  do {
    length = read(failure_in.get(), &failure, sizeof failure);
  } while (length < 0 && errno == EINTR);
  if (length == sizeof failure) exec_errno_ = failure;
  return {};
}

bool Supervisor::reap(JobStatus* status) {
  bool has_ended = false;
  int word = 0;
  for (pid_t pid; (pid = waitpid(-1, &word, WNOHANG)) > 0;) {
    if (pid != job_) continue;
    has_ended = true;
    status->exec_errno = exec_errno_;
    if (WIFSIGNALED(word)) {
      status->signal = WTERMSIG(word);
    } else {
      status->exit_code = WEXITSTATUS(word);
    }
  }
  return has_ended;
}

void Supervisor::take(const siginfo_t& signal) {
  const int number = signal.si_signo;
  if (asks_to_end(number)) is_asked_to_end_ = true;
  // SIGCONT continues whom it is sent to; the job was not stopped by us.
  if (number == SIGCHLD || number == SIGCONT) return;
  undecided_.push_back({signal, clock_ns(CLOCK_MONOTONIC) + (canary_->is_alive() ? kCanaryPatience_ns : 0)});
}

void Supervisor::decide() {
  canary_->listen();
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  std::erase_if(undecided_, [this, now_ns](const Undecided& one) {
    const siginfo_t& signal = one.signal;
    if (canary_->takes_report_of(signal.si_signo)) return true;
    if (now_ns < one.deadline_ns) return false;
    if (signal.si_code == SI_QUEUE) {
      sigqueue(job_, signal.si_signo, signal.si_value);
    } else {
      kill(job_, signal.si_signo);
    }
    return true;
  });
}

JobStatus Supervisor::wait() {
  JobStatus status;
  while (!reap(&status)) {
    timespec left{};
    if (!undecided_.empty()) {
      const std::int64_t left_ns =
          std::max<std::int64_t>(undecided_.front().deadline_ns - clock_ns(CLOCK_MONOTONIC), 0);
      left.tv_nsec = static_cast<long>(left_ns);
    }
    siginfo_t signal;
    if (sigtimedwait(&held_, &signal, undecided_.empty() ? nullptr : &left) > 0) take(signal);
    decide();
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
  sigset_t own;
  sigemptyset(&own);
  sigaddset(&own, status.signal);
  kill(getpid(), status.signal);
  sigprocmask(SIG_UNBLOCK, &own, nullptr);
  _exit(128 + status.signal);
}

}  // namespace jaxprof::launcher
