#include "launcher/signal_relay.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <utility>

#include "agent/base/clocks.h"
#include "agent/base/log.h"
#include "launcher/job_group.h"

namespace jaxprof::launcher {
namespace {

// A sender may take so long from one process of the task to the next.
constexpr std::int64_t kPatience_ns = 50'000'000;
// A canary that is sent a signal and does not come to report it: looked at again after, for at most.
constexpr std::int64_t kSecondLook_ns = 5'000'000;
constexpr std::int64_t kMostPatience_ns = 1'000'000'000;
// A report that comes so long before the wrapper takes the signal may still be of it.
constexpr std::int64_t kMemory_ns = 1'000'000'000;

std::string name_of(int signal) {
  const char* name = sigabbrev_np(signal);
  return name == nullptr ? "signal " + std::to_string(signal) : std::string("SIG") + name;
}

std::vector<pid_t> targets_in_job(pid_t job, int signal, bool is_sent_to_group, bool is_sent_to_all) {
  const pid_t group = getpgid(job);
  if (group == getpgrp()) return is_sent_to_group ? std::vector<pid_t>{} : std::vector<pid_t>{job};
  if (is_sent_to_all) return {};
  if (!is_sent_to_group) return {job};
  // Where the wrapper leads no group, the job has left one that it would not have led either: a signal to it is none of
  // the job's. A shell's SIGCONT is: the wrapper had stopped with the job.
  if (!leads_its_group() && signal != SIGCONT) return {};
  const pid_t own_group = group_of_its_own(job);
  return {own_group != 0 ? -own_group : job};
}

}  // namespace

SignalRelay::SignalRelay(const sigset_t& held)
    : insider_(held, CanaryGroup::kWrappers), outsider_(held, CanaryGroup::kOwn) {}

void SignalRelay::take(const siginfo_t& signal) {
  // A stop takes a SIGCONT back that is on its way (signal(7)), from the canaries too: passed on, it would undo the
  // stop.
  if (signal.si_signo == SIGTSTP) forget(SIGCONT);
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  const bool has_witness = insider_.is_alive() || outsider_.is_alive();
  undecided_.push_back({signal, now_ns, now_ns + (has_witness ? kPatience_ns : 0)});
}

bool SignalRelay::is_undecided(int signal) const {
  return std::any_of(undecided_.begin(), undecided_.end(),
                     [signal](const Undecided& one) { return one.signal.si_signo == signal; });
}

bool SignalRelay::has_deadline(std::int64_t* deadline_ns) const {
  if (undecided_.empty()) return false;
  *deadline_ns = std::min_element(undecided_.begin(), undecided_.end(), [](const Undecided& a, const Undecided& b) {
                   return a.deadline_ns < b.deadline_ns;
                 })->deadline_ns;
  return true;
}

void SignalRelay::is_reaped(pid_t pid) {
  for (SignalCanary* canary : {&insider_, &outsider_}) {
    if (canary->pid() == pid) canary->is_reaped();
  }
}

void SignalRelay::forget(int signal) {
  std::erase_if(undecided_, [signal](const Undecided& one) { return one.signal.si_signo == signal; });
  for (SignalCanary* canary : {&insider_, &outsider_}) {
    canary->listen();
    canary->forget(signal);
  }
}

void SignalRelay::decide_for_job(pid_t job) {
  decide([job](int signal, Receipt sent) { return targets_in_job(job, signal, sent.by_group, sent.by_all); });
}

void SignalRelay::decide_for_rest(const std::function<std::vector<pid_t>()>& rest) {
  decide([&rest](int, Receipt sent) { return sent.by_group || sent.by_all ? std::vector<pid_t>{} : rest(); });
}

void SignalRelay::decide(const Targets& targets) {
  const std::int64_t now_ns = clock_ns(CLOCK_MONOTONIC);
  std::int64_t oldest_ns = now_ns;
  for (const Undecided& one : undecided_) oldest_ns = std::min(oldest_ns, one.since_ns);
  for (SignalCanary* canary : {&insider_, &outsider_}) canary->forget_before(oldest_ns - kMemory_ns);

  std::vector<Undecided> later;
  for (Undecided& one : std::exchange(undecided_, {})) {
    const int number = one.signal.si_signo;
    if (now_ns < one.deadline_ns) {
      later.push_back(one);
      continue;
    }
    // In this order: a canary that was at rest has reported all that it got.
    const CanaryState inside = insider_.look_for(number);
    const CanaryState outside = outsider_.look_for(number);
    insider_.listen();
    outsider_.listen();
    const bool is_open = inside == CanaryState::kBusy || outside == CanaryState::kBusy;
    if (is_open && now_ns < one.since_ns + kMostPatience_ns) {
      one.deadline_ns = now_ns + kSecondLook_ns;
      later.push_back(one);
      continue;
    }
    const bool has_inside_reported = insider_.takes_report_of(number);
    const bool has_outside_reported = outsider_.takes_report_of(number);
    const Receipt sent{has_inside_reported || inside == CanaryState::kGotIt,
                       has_outside_reported || outside == CanaryState::kGotIt};
    for (const pid_t target : targets(number, sent)) send(target, one.signal);
  }
  undecided_ = std::move(later);
}

void SignalRelay::send(pid_t target, const siginfo_t& signal) {
  const bool has_value = signal.si_code == SI_QUEUE && target > 0;
  const int result = has_value ? sigqueue(target, signal.si_signo, signal.si_value) : kill(target, signal.si_signo);
  if (result == 0 || errno != EPERM || std::exchange(has_told_of_refusal_, true)) return;
  say("the command runs as another user: " + name_of(signal.si_signo) + " could not be passed on");
}

}  // namespace jaxprof::launcher
