// The wrapper is the job's parent to the end, since a batch system kills all that is left once the task's own process
// is gone. The job must not notice: same process group, same signals (signal_relay.h), and whoever waits for the
// wrapper sees what the job did, exit code or signal or stop (job_control.h). As the job's reaper, and as pid 1 of a
// container, the wrapper waits for every orphan. Everything here runs in the main thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <atomic>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agent/base/result.h"
#include "launcher/job_control.h"
#include "launcher/job_start.h"
#include "launcher/signal_relay.h"

namespace jaxprof::launcher {

// How a job ended. `exec_errno` is not 0 if its program could not be started; `exit_code` is then that of a shell.
struct JobStatus {
  int exit_code = -1;  // -1: it died of `signal`
  int signal = 0;
  int exec_errno = 0;
};

enum class WaitFor {
  kPrimary,  // the command
  kAll,      // and all that it has left behind, daemons included
};

class Supervisor {
 public:
  // Holds back all signals that can be held back; they are the job's from now on. Becomes the reaper of orphans.
  Supervisor();

  // Starts `command`, found by PATH, with `environment`, the signal mask and the dispositions that the wrapper was
  // started with. kNodeNotReady if no process could be made, or if the command with this environment is too long for
  // the kernel; a command that does not exist is a job that ended.
  Status start(const std::vector<std::string>& command, const std::vector<std::string>& environment,
               OnHardKill on_hard_kill);

  // Passes signals on and reaps children until the end of what is waited for. Once the command has ended, signals go to
  // those of the rest that have become children of the wrapper. The status is the command's.
  JobStatus wait(WaitFor what);

  // Of the command, also after its end; 0 if it could not be started.
  pid_t job_pid() const { return job_.exec_errno == 0 ? job_.pid : 0; }

  // True once a signal asked the job to end (TERM, INT, HUP, QUIT, XCPU), before or after its end.
  bool is_asked_to_end();

  // Kills the command, if it has not ended. Any thread; wait() does it.
  void kill_job();

  // The child `pid` is none of the job's, whatever it descends from: neither waited for nor sent signals. Any thread.
  void disregard(pid_t pid);

  // Called by wait() once, when the first such signal comes while the job runs.
  void on_asked_to_end(std::function<void()> tell) { tell_asked_to_end_ = std::move(tell); }

  // Gives up what the constructor took, for a job that is started by exec_in_place instead.
  void let_go();

 private:
  // Waits for children that have ended or stopped. False if there were none. `status` is filled in if the command is
  // one that has ended.
  bool reap(JobStatus* status);
  // Sleeps until the next signal or decision, and does what is to be done about either.
  void serve_signals();
  void take(const siginfo_t& signal);
  // Does what is due about signals that were taken.
  void decide();
  void follow_stop();
  // Children that descend from the command, which has ended.
  std::vector<pid_t> rest_of_job() const;

  sigset_t held_;
  sigset_t original_mask_;
  struct sigaction original_chld_;
  std::optional<SignalRelay> relay_;
  JobControl job_control_;
  std::vector<pid_t> earlier_children_;  // not of the job: the publishing, and those of who became the wrapper by exec
  mutable std::mutex disregarded_mutex_;
  std::vector<pid_t> disregarded_;  // observers of the node
  StartedJob job_;
  bool has_command_ended_ = false;
  int stop_to_follow_ = 0;  // the signal that the job was stopped by
  bool is_asked_to_end_ = false;
  std::atomic<bool> is_to_be_killed_{false};
  std::function<void()> tell_asked_to_end_ = [] {};
};

// Ends this process as the job ended: with its code, or by its signal without a second core file. Pid 1 of a namespace
// cannot die of a signal of its own; it ends with 128 + signal, as a shell tells it.
[[noreturn]] void end_like(const JobStatus& status);

}  // namespace jaxprof::launcher
