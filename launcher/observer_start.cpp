#include "launcher/observer_start.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "agent/base/clocks.h"
#include "agent/base/unique_fd.h"
#include "launcher/exec_words.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kLongestNs = 2'000'000'000;

// What the two children write to the pipe. As long as it is open there may be more.
struct Word {
  enum Kind : int { kStarted, kFailed } kind;
  int value;  // the observer's number; errno
};

void tell(int pipe, Word word) {
  if (write(pipe, &word, sizeof word) < 0) return;  // nobody listens any more
}

// Whoever reads the job's output to its end does not wait for the observer, not even until it has let go of it.
void leave_descriptors() {
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = STDIN_FILENO; null >= 0 && fd <= STDERR_FILENO; ++fd) dup2(null, fd);
#ifdef SYS_close_range
  constexpr unsigned kCloseOnExec = 1U << 2;  // CLOSE_RANGE_CLOEXEC, since Linux 5.11; the observer does it otherwise
  syscall(SYS_close_range, STDERR_FILENO + 1U, ~0U, kCloseOnExec);
#endif
}

[[noreturn]] void become_observer(char* const* command, char* const* environment, int pipe) {
  setsid();
  leave_descriptors();
  execve(command[0], command, environment);
  tell(pipe, {Word::kFailed, errno});
  _exit(127);
}

[[noreturn]] void become_parent(char* const* command, char* const* environment, int pipe) {
  const pid_t observer = fork();
  if (observer == 0) become_observer(command, environment, pipe);
  tell(pipe, observer > 0 ? Word{Word::kStarted, observer} : Word{Word::kFailed, errno});
  _exit(0);
}

// Until the pipe is closed, which the exec does, or the time is up.
Result<pid_t> read_answer(int pipe, const std::string& program) {
  pid_t observer = 0;
  const std::int64_t end_ns = clock_ns(CLOCK_MONOTONIC) + kLongestNs;
  for (;;) {
    const std::int64_t left_ns = end_ns - clock_ns(CLOCK_MONOTONIC);
    pollfd waiting{pipe, POLLIN, 0};
    const int ready = poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left_ns, 0) / 1'000'000));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return observer;
    Word word{};
    const ssize_t length = read(pipe, &word, sizeof word);
    if (length < 0 && errno == EINTR) continue;
    if (length != sizeof word) return observer;
    if (word.kind == Word::kFailed) {
      return fail(ErrorCode::kNodeNotReady, "cannot start " + program + ": " + std::strerror(word.value));
    }
    observer = word.value;
  }
}

}  // namespace

Result<pid_t> start_observer(const std::vector<std::string>& command, const std::vector<std::string>& environment) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot make a pipe");
  const UniqueFd answer(ends[0]);
  UniqueFd telling(ends[1]);
  const std::vector<char*> words = exec_words(command);
  const std::vector<char*> entries = exec_words(environment);
  const pid_t child = fork();
  if (child == 0) become_parent(words.data(), entries.data(), telling.get());
  if (child < 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot start a process");
  telling.reset();
  auto observer = read_answer(answer.get(), command.front());
  // Another thread may be the one that reaps children.
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
  return observer;
}

}  // namespace jaxprof::launcher
