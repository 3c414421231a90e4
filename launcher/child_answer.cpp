#include "launcher/child_answer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <utility>

#include "launcher/exec_words.h"

namespace jaxprof::launcher {
namespace {

constexpr std::size_t kMaxAnswerBytes = 64 << 10;

// What makes the child another process than the wrapper: no signal is held back, and it ends in time.
void be_a_child(unsigned limit_s, int output) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::signal(SIGALRM, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  alarm(limit_s);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  dup2(null, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(null, STDERR_FILENO);
}

}  // namespace

// `act` runs in the child of a process that may have several threads: system calls only.
template <typename Act>
std::optional<ChildAnswer> ChildAnswer::start(unsigned limit_s, Act act) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return std::nullopt;
  UniqueFd reading(ends[0]);
  const UniqueFd writing(ends[1]);
  const pid_t pid = fork();
  if (pid < 0) return std::nullopt;
  if (pid == 0) {
    be_a_child(limit_s, writing.get());
    act();
    _exit(127);
  }
  return ChildAnswer(std::move(reading));
}

std::optional<ChildAnswer> ChildAnswer::of_command(const std::vector<std::string>& command,
                                                   const std::vector<std::string>& variables, unsigned limit_s) {
  std::vector<std::string> environment = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  const std::vector<char*> words = exec_words(command);
  const std::vector<char*> entries = exec_words(environment);
  return start(limit_s, [&] { execvpe(words[0], words.data(), entries.data()); });
}

std::optional<ChildAnswer> ChildAnswer::of_new_mark(const std::string& path, unsigned limit_s) {
  return start(limit_s, [&path] {
    if (open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) < 0) _exit(1);
    _exit(write(STDOUT_FILENO, "made", 4) == 4 ? 0 : 1);
  });
}

std::optional<std::string> ChildAnswer::poll() {
  char piece[4096];
  for (;;) {
    const ssize_t length = read(output_.get(), piece, sizeof piece);
    if (length < 0 && errno == EINTR) continue;
    if (length < 0 && errno == EAGAIN) return std::nullopt;
    if (length <= 0) return std::exchange(text_, {});
    if (text_.size() < kMaxAnswerBytes) text_.append(piece, static_cast<std::size_t>(length));
  }
}

}  // namespace jaxprof::launcher
