// A signal that reached the wrapper is the job's, who got it by itself or did not. Run directly, the job would be the
// first process of its launcher: a signal to that process, to its process group or to all that descend from it would
// each reach it once. This decides, 50 ms after a signal came and by what two canaries got, what is left to be sent.
// It matters where the job is by then: a command that makes a process group of its own (GNU timeout, `bash -i`,
// os.setpgrp()) stays where it is if it leads its launcher's group already, and really leaves the wrapper's. Used by
// the main thread.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "launcher/signal_canary.h"

namespace jaxprof::launcher {

class SignalRelay {
 public:
  // Starts the canaries. Signals in `held`, which must be blocked, are what they watch for.
  explicit SignalRelay(const sigset_t& held);

  // One that was taken from this process's queue.
  void take(const siginfo_t& signal);
  bool is_undecided(int signal) const;
  // True if there is something to decide; `deadline_ns` (CLOCK_MONOTONIC) is then when.
  bool has_deadline(std::int64_t* deadline_ns) const;

  // Decides what is due about signals to `job`, which has not been waited for, and sends it what it has not got.
  void decide_for_job(pid_t job);
  // The same for what is left of a job whose command has ended: `rest` are those processes, asked for if needed.
  void decide_for_rest(const std::function<std::vector<pid_t>()>& rest);
  // The job has stopped: what asked it to is done, and must not stop it again when it goes on.
  void forget_stops() { forget(SIGTSTP); }

  bool is_canary(pid_t pid) const { return pid == insider_.pid() || pid == outsider_.pid(); }
  // The end of a child was waited for; nothing to do if it is no canary.
  void is_reaped(pid_t pid);

 private:
  // A signal of which nobody knows yet whether the job got it too.
  struct Undecided {
    siginfo_t signal;
    std::int64_t since_ns;     // CLOCK_MONOTONIC
    std::int64_t deadline_ns;  // who has not got it by then is not sent it by others
  };
  struct Receipt {
    bool by_group;  // the wrapper's process group was sent it
    bool by_all;    // every descendant of the wrapper was
  };
  // Whom to send a signal, as kill(2) names processes and groups.
  using Targets = std::function<std::vector<pid_t>(int signal, Receipt)>;

  void forget(int signal);
  void decide(const Targets& targets);
  void send(pid_t target, const siginfo_t& signal);

  SignalCanary insider_;
  SignalCanary outsider_;
  std::vector<Undecided> undecided_;
  bool has_told_of_refusal_ = false;
};

}  // namespace jaxprof::launcher
