// Who else got this signal? Depending on the batch system's process tracking, a signal to a task reaches only the
// task's own process (our wrapper), or the whole process group, or every descendant. The job must get each exactly as
// it would without us: once. No rule about launchers tells; a witness does. The canary is a tiny sibling of the job in
// the same process group that reports every signal it gets. What the canary got, the job got too. (Measured: with
// Slurm's cgroup tracking only the wrapper gets SIGTERM, with linuxproc, pgid and mpirun all do.)
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "agent/base/unique_fd.h"

namespace jaxprof::launcher {

enum class CanaryState {
  kAtRest,  // it has reported all that it was sent
  kGotIt,   // it was sent the signal and has not come to report it yet
  kBusy,    // it may have taken a signal that it is about to report
};

// Used by one thread. Signals in `watched` must be blocked before it is made.
class SignalCanary {
 public:
  explicit SignalCanary(const sigset_t& watched);
  ~SignalCanary();
  SignalCanary(const SignalCanary&) = delete;
  SignalCanary& operator=(const SignalCanary&) = delete;

  // False: it could not be started. Then nobody can say who got a signal.
  bool is_alive() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  // Its end was waited for elsewhere.
  void is_reaped() { pid_ = -1; }

  // On a node with more to do than processors a report may be late. The kernel knows better what was sent: looks for
  // `signal` among what is pending (/proc/PID/status).
  CanaryState look_for(int signal) const;
  // Reads what the canary has reported by now, without waiting, and forgets what is older than a second.
  void listen();
  // True if a report of `signal` was there, which is thereby used up: each receipt answers once.
  bool takes_report_of(int signal);

 private:
  struct Report {
    std::int64_t monotonic_ns;
    std::int32_t signal;
    std::int32_t unused;
  };

  pid_t pid_ = -1;
  UniqueFd reports_fd_;
  std::vector<Report> reports_;
};

}  // namespace jaxprof::launcher
