// The wrapper is the job's parent to the end, since a batch system kills all that is left once the task's own process
// is gone. The job must not notice: same process group, same descriptors, same signals, and whoever waits for the
// wrapper sees what the job did, exit code or signal. A hard kill of the wrapper takes the job with it, as it would
// without the wrapper. Everything here runs in the main thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/result.h"
#include "launcher/signal_canary.h"

namespace jaxprof::launcher {

// How a job ended. `exec_errno` is not 0 if its program could not be started; `exit_code` is then that of a shell.
struct JobStatus {
  int exit_code = -1;  // -1: it died of `signal`
  int signal = 0;
  int exec_errno = 0;
};

// 127 if the command is not there, 126 if it cannot be executed.
int exit_code_of_exec_failure(int exec_errno);
// "python: No such file or directory"
std::string describe_exec_failure(const std::string& program, int exec_errno);

// Replaces this process by `command` with the environment as it is. Returns errno if that failed.
int exec_in_place(const std::vector<std::string>& command);

class Supervisor {
 public:
  // Holds back all signals that can be held back; they are the job's from now on. Becomes the reaper of orphans.
  Supervisor();

  // Starts `command`, found by PATH, with `environment`, the signal mask and the dispositions that the wrapper was
  // started with. kNodeNotReady if no process could be made; a command that does not exist is a job that ended.
  Status start(const std::vector<std::string>& command, const std::vector<std::string>& environment);

  // Until the job's end: passes signals on, reaps children.
  JobStatus wait();

  // Of the command, also after its end; 0 if it could not be started.
  pid_t job_pid() const { return exec_errno_ == 0 ? job_ : 0; }

  // True once a signal asked the job to end (TERM, INT, HUP, QUIT, XCPU), before or after its end.
  bool is_asked_to_end();

  // Gives up what the constructor took, for a job that is started by exec_in_place instead.
  void let_go();

 private:
  // A signal of which nobody knows yet whether the job got it too.
  struct Undecided {
    siginfo_t signal;
    std::int64_t deadline_ns;  // CLOCK_MONOTONIC; the job did not get what the canary has not reported by then
  };

  bool reap(JobStatus* status);
  void take(const siginfo_t& signal);
  // Drops what the job got by itself, sends it what it has not got in time. One signal never holds up another.
  void decide();

  sigset_t held_;
  sigset_t original_mask_;
  struct sigaction original_chld_;
  std::optional<SignalCanary> canary_;
  std::vector<Undecided> undecided_;  // by deadline
  pid_t job_ = -1;
  int exec_errno_ = 0;
  bool is_asked_to_end_ = false;
};

// Ends this process as the job ended: with its code, or by its signal without a second core file.
[[noreturn]] void end_like(const JobStatus& status);

}  // namespace jaxprof::launcher
