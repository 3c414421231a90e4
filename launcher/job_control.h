// A shell that started a job waits for it to end or to stop, and shares the terminal with it. The shell sees only the
// wrapper, so the wrapper stops when the job does. A job in a process group of its own (job_group.h) is a stranger to
// the terminal that it would have been given: the wrapper hands it on as a shell does, when the job stops for the want
// of it. Used by the main thread, with all signals blocked that can be held back.
#pragma once

#include <signal.h>
#include <sys/types.h>

namespace jaxprof::launcher {

class JobControl {
 public:
  // By a signal, as far as /proc tells.
  static bool is_stopped(pid_t process);
  // `job` was stopped by `signal`. Sets it going again with the terminal, if that is what it lacks; otherwise stops
  // this process, and returns when it goes on: somebody has sent it SIGCONT, or the job has gone on or ended.
  void follow_stop(pid_t job, int signal);
  // The terminal goes back to the wrapper's process group, if the job's has it from here.
  void take_terminal_back();
  // A SIGCONT that only woke the wrapper up, and is not the job's.
  bool is_own_waking(const siginfo_t& signal) const {
    return signal.si_signo == SIGCONT && signal.si_pid == waker_ && waker_ > 0;
  }

 private:
  bool lend_terminal(pid_t group);
  void stop_along(pid_t job);

  pid_t lent_to_ = 0;  // a process group
  pid_t waker_ = 0;    // the last one, which has ended
};

}  // namespace jaxprof::launcher
