#include "launcher/job_control.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <sstream>
#include <string>
#include <string_view>

#include "agent/base/atomic_file.h"
#include "agent/base/directory_listing.h"
#include "agent/base/unique_fd.h"
#include "launcher/job_group.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kTerminalLooksEvery_ns = 100'000'000;
constexpr timespec kLooksEvery{0, 20'000'000};

UniqueFd open_terminal() {
  return UniqueFd(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC));
}

void set_foreground(int terminal, pid_t group) {
  sigset_t background;
  sigset_t before;
  sigemptyset(&background);
  sigaddset(&background, SIGTTOU);
  sigprocmask(SIG_BLOCK, &background, &before);
  tcsetpgrp(terminal, group);
  sigprocmask(SIG_SETMASK, &before, nullptr);
}

// The kernel lets no terminal stop a group that nobody in its session would set going again: for a group whose first
// process is this one, that is its parent.
bool can_be_stopped_by_terminal() {
  return getsid(getppid()) == getsid(0) && getpgid(getppid()) != getpgrp();
}

// Of a process whose /proc/PID/stat is open as `fd`: stopped by a signal. Nothing but system calls.
bool tells_of_stop(int fd) {
  char line[256];
  const ssize_t length = pread(fd, line, sizeof line, 0);
  if (length <= 0) return false;
  const std::string_view text(line, static_cast<std::size_t>(length));
  const std::size_t name_end = text.rfind(") ");
  return name_end != std::string_view::npos && text.substr(name_end + 2).starts_with('T');
}

UniqueFd open_stat(pid_t process) {
  const std::string path = "/proc/" + std::to_string(process) + "/stat";
  return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
}

// A stopped wrapper does not hear that its job goes on, or has ended: this process looks, and sends SIGCONT. Again and
// again, until it is killed, for one that comes before the wrapper has stopped has no effect.
[[noreturn]] void wake(pid_t wrapper, int job_stat) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != wrapper) _exit(0);
  prctl(PR_SET_NAME, "jaxprof-waker");
  for (;;) {
    nanosleep(&kLooksEvery, nullptr);
    if (!tells_of_stop(job_stat)) kill(wrapper, SIGCONT);
  }
}

bool has_stopped_member(pid_t group) {
  for (const std::string& process : list_directory("/proc")) {
    const auto stat = read_small_file("/proc/" + process + "/stat");
    const std::size_t name_end = stat ? stat->rfind(") ") : std::string::npos;
    if (name_end == std::string::npos) continue;
    std::istringstream fields(stat->substr(name_end + 2));
    char state = 0;
    pid_t parent = 0;
    pid_t its_group = 0;
    if (fields >> state >> parent >> its_group && state == 'T' && its_group == group) return true;
  }
  return false;
}

}  // namespace

JobControl::JobControl() : looks_every_ns_(leads_its_group() && open_terminal() ? kTerminalLooksEvery_ns : 0) {}

void JobControl::share_terminal(pid_t job) {
  const pid_t group = leads_its_group() ? group_of_its_own(job) : 0;
  if (group == 0) return;
  // Once: whoever stops later does so by a Ctrl-Z of its own.
  if (lend_terminal(group) && has_stopped_member(group)) kill(-group, SIGCONT);
}

bool JobControl::is_stopped(pid_t process) {
  const UniqueFd stat = open_stat(process);
  return stat && tells_of_stop(stat.get());
}

bool JobControl::lend_terminal(pid_t group) {
  const UniqueFd terminal = open_terminal();
  if (!terminal || tcgetpgrp(terminal.get()) != getpgrp()) return false;
  set_foreground(terminal.get(), group);
  lent_to_ = group;
  return true;
}

void JobControl::take_terminal_back() {
  if (lent_to_ == 0) return;
  const UniqueFd terminal = open_terminal();
  if (terminal && tcgetpgrp(terminal.get()) == lent_to_) set_foreground(terminal.get(), getpgrp());
  lent_to_ = 0;
}

void JobControl::stop_along(pid_t job) {
  const UniqueFd job_stat = open_stat(job);
  if (!job_stat) return;
  const pid_t wrapper = getpid();
  waker_ = fork();
  if (waker_ == 0) wake(wrapper, job_stat.get());
  // Nobody may ever send SIGCONT to a wrapper that stops without a waker.
  if (waker_ < 0) return;
  raise(SIGSTOP);
  kill(waker_, SIGKILL);
  waitpid(waker_, nullptr, 0);
}

void JobControl::follow_stop(pid_t job, int signal) {
  // Where the wrapper leads no group the job has left one that it would have left without it, too.
  const pid_t group = leads_its_group() ? group_of_its_own(job) : 0;
  if (group != 0) {
    const bool lacks_terminal = signal == SIGTTIN || signal == SIGTTOU;
    const bool would_not_stop = signal == SIGTSTP && !can_be_stopped_by_terminal();
    if (would_not_stop || (lacks_terminal && lend_terminal(group))) {
      kill(-group, SIGCONT);
      return;
    }
  }
  take_terminal_back();
  stop_along(job);
}

}  // namespace jaxprof::launcher
