#include "launcher/job_start.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "agent/base/unique_fd.h"
#include "launcher/exec_words.h"
#include "launcher/foreign_descriptors.h"

namespace jaxprof::launcher {
namespace {

// Stderr stays, for the last line.
void leave_descriptors_to_job() {
  close_foreign_descriptors();
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null) return;
  dup2(null.get(), STDIN_FILENO);
  dup2(null.get(), STDOUT_FILENO);
}

// What the child of fork needs, all of it made before.
struct ChildPlan {
  char* const* command;
  char* const* environment;
  const JobStart* start;
  pid_t wrapper;
  int failure_fd;
};

[[noreturn]] void become_job(const ChildPlan& plan) {
  if (plan.start->on_hard_kill == OnHardKill::kEndJob) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != plan.wrapper) _exit(128 + SIGKILL);
  }
  sigaction(SIGCHLD, &plan.start->on_child, nullptr);
  sigprocmask(SIG_SETMASK, &plan.start->signal_mask, nullptr);
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
  execvp(command.front().c_str(), exec_words(command).data());
  return errno;
}

Result<StartedJob> start_job(const JobStart& start) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot make a pipe");
  const UniqueFd failure_in(ends[0]);
  UniqueFd failure_out(ends[1]);
  const std::vector<char*> words = exec_words(start.command);
  const std::vector<char*> entries = exec_words(start.environment);
  const ChildPlan plan{words.data(), entries.data(), &start, getpid(), failure_out.get()};
  StartedJob job;
  job.pid = fork();
  if (job.pid == 0) become_job(plan);
  if (job.pid < 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot start a process");
  failure_out.reset();
  // Returns when the exec has closed the other end, or failed.
  int failure = 0;
  ssize_t length;
  do {
    length = read(failure_in.get(), &failure, sizeof failure);
  } while (length < 0 && errno == EINTR);
  if (length == sizeof failure) job.exec_errno = failure;
  if (job.exec_errno == E2BIG) {
    waitpid(job.pid, nullptr, 0);
    return fail(ErrorCode::kNodeNotReady,
                "with the agent's variables the command and its environment are longer than the system takes");
  }
  leave_descriptors_to_job();
  return job;
}

}  // namespace jaxprof::launcher
