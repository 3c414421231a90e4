#include "netsampler/gpu/probe_child.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>
#include <string_view>

namespace jaxprof::netsampler {
namespace {

constexpr int kNotExecuted = 127;

bool is_for_the_job_only(std::string_view entry) {
  return entry.starts_with("LD_PRELOAD=") || entry.starts_with("LD_AUDIT=");
}

// Everything from `first` on.
void close_from(int first) {
#if defined(SYS_close_range)
  constexpr long kCloseRange = SYS_close_range;
#else
  constexpr long kCloseRange = 436;
#endif
  if (syscall(kCloseRange, static_cast<unsigned>(first), ~0U, 0U) == 0) return;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const rlim_t end = limit.rlim_cur < 65536 ? limit.rlim_cur : 65536;
  for (rlim_t fd = static_cast<rlim_t>(first); fd < end; ++fd) close(static_cast<int>(fd));
}

// In the child: only what may be called between fork and exec.
[[noreturn]] void become(const char* program, char* const* arguments, char* const* environment, int null, int pipe,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(kNotExecuted);  // it ended before the kernel knew that we want to go with it
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);
  // The pipe's descriptor may be one of the three itself; the null device's may not, for the caller sees to that.
  if (dup2(pipe, STDOUT_FILENO) < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDERR_FILENO) < 0) {
    _exit(kNotExecuted);
  }
  close_from(STDERR_FILENO + 1);
  execve(program, arguments, environment);
  _exit(kNotExecuted);
}

}  // namespace

Status ProbeChild::start(const std::string& program, const std::vector<std::string>& arguments) {
  if (access(program.c_str(), X_OK) != 0) return fail_errno(ErrorCode::kNodeNotReady, program);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ErrorCode::kNodeNotReady, "no pipe");
  UniqueFd read_end(ends[0]);
  // Above the three that the child moves its own to.
  const UniqueFd write_end(fcntl(ends[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  close(ends[1]);
  const UniqueFd null_low(open("/dev/null", O_RDWR | O_CLOEXEC));
  const UniqueFd null(fcntl(null_low.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!write_end || !null) return fail_errno(ErrorCode::kNodeNotReady, "no descriptor for a child");
  if (fcntl(read_end.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno(ErrorCode::kNodeNotReady, "pipe");

  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<char*> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (!is_for_the_job_only(*entry)) environment.push_back(*entry);
  }
  environment.push_back(nullptr);

  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return fail_errno(ErrorCode::kNodeNotReady, "no child process");
  if (pid == 0) become(program.c_str(), argv.data(), environment.data(), null.get(), write_end.get(), parent);
  pid_ = pid;
  status_.reset();
  pipe_ = std::move(read_end);
  return {};
}

std::optional<int> ProbeChild::wait_status() {
  if (pid_ < 0) return status_;
  int status = 0;
  const pid_t ended = waitpid(pid_, &status, WNOHANG);
  if (ended == 0 || (ended < 0 && errno == EINTR)) return std::nullopt;
  pid_ = -1;
  status_ = ended > 0 ? status : 0;  // gone without a word where the program ignores SIGCHLD
  return status_;
}

void ProbeChild::end() {
  pipe_.reset();
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  for (int i = 0; i < 50 && !wait_status().has_value(); ++i) {
    const timespec moment{0, 2'000'000};
    nanosleep(&moment, nullptr);
  }
}

std::string describe_end(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "exit status " + std::to_string(WEXITSTATUS(wait_status));
  const int number = WTERMSIG(wait_status);
  const char* name = strsignal(number);
  return "signal " + std::to_string(number) + (name == nullptr ? "" : std::string(" (") + name + ")");
}

}  // namespace jaxprof::netsampler
