#include "netsampler/node/detachment.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string_view>

#include "agent/base/directory_listing.h"
#include "agent/base/parse_number.h"
#include "agent/base/unique_fd.h"

namespace jaxprof::netsampler {
namespace {

constexpr unsigned long kTimerSlackNs = 1000;
constexpr int kNice = 5;
constexpr std::string_view kOomScore = "500";
constexpr std::size_t kMostProcessors = 8192;

volatile sig_atomic_t is_asked = 0;

void note_end(int) {
  is_asked = 1;
}

void close_all_above(int last) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, last + 1, ~0U, 0) == 0) return;
#endif
  for (const std::string& name : list_directory("/proc/self/fd")) {
    const auto number = parse_int64(name);
    if (number && *number > last) close(static_cast<int>(*number));
  }
}

void close_descriptors() {
  const int null = open("/dev/null", O_RDWR);  // maybe one of the three itself, if it was started without
  for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; ++fd) dup2(null, fd);
  close_all_above(STDERR_FILENO);
}

// The job's signals go to all of a step's processes. What the kernel sends for a fault stays as it is.
void ignore_signals() {
  for (int number = 1; number < SIGRTMAX + 1; ++number) {
    switch (number) {
      case SIGSEGV:
      case SIGBUS:
      case SIGFPE:
      case SIGILL:
      case SIGABRT:
      case SIGSYS:
      case SIGTRAP:
      case SIGCHLD:
      case SIGKILL:
      case SIGSTOP:
        break;
      default:
        signal(number, SIG_IGN);
    }
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGCHLD, SIG_DFL);
}

void write_oom_score() {
  const UniqueFd file(open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file && write(file.get(), kOomScore.data(), kOomScore.size()) < 0) return;  // then it is as likely as the job
}

// The processor to run on; -1 if the kernel does not tell what is allowed.
int last_allowed_cpu(const cpu_set_t* allowed, std::size_t bytes) {
  for (std::size_t cpu = kMostProcessors; cpu-- > 0;) {
    if (CPU_ISSET_S(cpu, bytes, allowed)) return static_cast<int>(cpu);
  }
  return -1;
}

void bind_to_cpu(std::optional<int> wanted) {
  cpu_set_t* set = CPU_ALLOC(kMostProcessors);
  if (set == nullptr) return;
  const std::size_t bytes = CPU_ALLOC_SIZE(kMostProcessors);
  CPU_ZERO_S(bytes, set);
  int cpu = wanted.value_or(-1);
  if (!wanted && sched_getaffinity(0, bytes, set) == 0) cpu = last_allowed_cpu(set, bytes);
  if (cpu >= 0 && static_cast<std::size_t>(cpu) < kMostProcessors) {
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(static_cast<std::size_t>(cpu), bytes, set);
    sched_setaffinity(0, bytes, set);
  }
  CPU_FREE(set);
}

}  // namespace

void detach() {
  setsid();
  close_descriptors();
  ignore_signals();
  const rlimit none{0, 0};
  setrlimit(RLIMIT_CORE, &none);
  write_oom_score();
  if (chdir("/") != 0) return;  // there is no other folder to be in
}

void take_back_seat(std::optional<int> cpu) {
  prctl(PR_SET_TIMERSLACK, kTimerSlackNs);
  setpriority(PRIO_PROCESS, 0, kNice);
  bind_to_cpu(cpu);
}

void listen_for_end() {
  struct sigaction action {};
  action.sa_handler = note_end;
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

bool is_asked_to_end() {
  return is_asked != 0;
}

}  // namespace jaxprof::netsampler
