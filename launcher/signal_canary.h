// Who else got this signal? Depending on the batch system's process tracking, a signal to a task reaches only the
// task's own process (our wrapper), or the whole process group, or every descendant. The job must get each exactly as
// it would without us: once. No rule about launchers tells; a witness does. A canary is a tiny sibling of the job that
// reports every signal it gets. What one in the wrapper's process group got, that group was sent; what one in a group
// of its own got, every descendant was. (Measured: with Slurm's cgroup tracking only the wrapper gets SIGTERM, with
// pgid and mpirun the group does, with linuxproc all do.) What follows from that for the job is signal_relay.h.
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

enum class CanaryGroup {
  kWrappers,  // the process group that it is born into
  kOwn,       // one of which it is the only member
};

// Used by one thread. Signals in `watched` must be blocked before it is made.
class SignalCanary {
 public:
  SignalCanary(const sigset_t& watched, CanaryGroup group);
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
  // Reads what the canary has reported by now, without waiting. A report counts from its reading: the wrapper may have
  // been stopped since it was written.
  void listen();
  // Forgets what was read before `oldest_ns` (CLOCK_MONOTONIC).
  void forget_before(std::int64_t oldest_ns);
  // Forgets all reports of `signal`.
  void forget(int signal);
  // True if a report of `signal` was there, which is thereby used up: each receipt answers once.
  bool takes_report_of(int signal);

 private:
  struct Report {
    std::int64_t read_ns;  // CLOCK_MONOTONIC
    int signal;
  };

  pid_t pid_ = -1;
  UniqueFd reports_fd_;
  std::vector<Report> reports_;
};

}  // namespace jaxprof::launcher
