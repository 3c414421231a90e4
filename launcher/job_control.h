// A shell that started a job waits for it to end or to stop, and shares the terminal with it. The shell sees only the
// wrapper, so the wrapper stops when the job does. A job in a process group of its own (job_group.h) is a stranger to
// the terminal that it would have been given: the wrapper, which looks several times a second if it is an interactive
// one, hands it on as a shell does. Used by the main thread, with all signals blocked that can be held back.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>

namespace jaxprof::launcher {

class JobControl {
 public:
  JobControl();
  // By a signal, as far as /proc tells.
  static bool is_stopped(pid_t process);
  // `job` was stopped by `signal`. Sets it going again with the terminal, if that is what it lacks; otherwise stops
  // this process, and returns when it goes on: somebody has sent it SIGCONT, or the job has gone on or ended.
  void follow_stop(pid_t job, int signal);
  // Gives the terminal to a job that has made a process group of its own, if it is the wrapper's to give, and sets
  // going who in it has stopped for the want of it: GNU timeout itself does not, its command does.
  void share_terminal(pid_t job);
  // How often share_terminal() is to be called; 0: never.
  std::int64_t looks_every_ns() const { return looks_every_ns_; }
  // The terminal goes back to the wrapper's process group, if the job's has it from here.
  void take_terminal_back();
  // A SIGCONT that only woke the wrapper up, and is not the job's.
  bool is_own_waking(const siginfo_t& signal) const {
    return signal.si_signo == SIGCONT && signal.si_pid == waker_ && waker_ > 0;
  }

 private:
  bool lend_terminal(pid_t group);
  void stop_along(pid_t job);

  std::int64_t looks_every_ns_;
  pid_t lent_to_ = 0;  // a process group
  pid_t waker_ = 0;    // the last one, which has ended
};

}  // namespace jaxprof::launcher
