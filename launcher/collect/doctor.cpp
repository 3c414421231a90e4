#include "launcher/collect/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "agent/base/unique_fd.h"
#include "launcher/exec_words.h"
#include "launcher/job_start.h"

namespace jaxprof::launcher {
namespace {

constexpr std::size_t kMostBytes = 16 << 20;

// An alarm outlives the exec, and ends a program that hangs. Between fork and exec only what is allowed there.
[[noreturn]] void become_sampler(char* const* command, int output, unsigned limit_s) {
  signal(SIGPIPE, SIG_DFL);
  alarm(limit_s);
  dup2(output, STDOUT_FILENO);
  execv(command[0], command);
  _exit(exit_code_of_exec_failure(errno));
}

std::string read_all(int fd) {
  std::string text;
  char buffer[4096];
  while (text.size() < kMostBytes) {
    const ssize_t length = read(fd, buffer, sizeof buffer);
    if (length < 0 && errno == EINTR) continue;
    if (length <= 0) break;
    text.append(buffer, static_cast<std::size_t>(length));
  }
  return text;
}

Status judge(const std::string& program, int status, unsigned limit_s) {
  const auto refuse = [&](const std::string& what) { return fail(ErrorCode::kNodeNotReady, program + what); };
  if (WIFSIGNALED(status)) {
    if (WTERMSIG(status) == SIGALRM) return refuse(" has not ended after " + std::to_string(limit_s) + " s");
    return refuse(" was ended by signal " + std::to_string(WTERMSIG(status)));
  }
  const int code = WEXITSTATUS(status);
  if (code == 126 || code == 127) return refuse(" cannot be executed; it is installed beside jaxprof");
  if (code != 0) return refuse(" ended with status " + std::to_string(code));
  return {};
}

}  // namespace

Result<std::string> ask_sampler(const std::string& program, const DoctorOptions& options, unsigned limit_s) {
  std::vector<std::string> command = {program, "--probe"};
  if (!options.meeting_folder.empty()) command.push_back("--clock-meet=" + options.meeting_folder);
  if (!options.clock_ports.empty()) command.push_back("--clock-port=" + options.clock_ports);
  const std::vector<char*> words = exec_words(command);
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot make a pipe");
  const UniqueFd output(ends[0]);
  UniqueFd input(ends[1]);
  const pid_t child = fork();
  if (child == 0) become_sampler(words.data(), input.get(), limit_s);
  if (child < 0) return fail_errno(ErrorCode::kNodeNotReady, "cannot start a process");
  input.reset();
  std::string text = read_all(output.get());
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (auto judged = judge(program, status, limit_s); !judged) return tl::unexpected(std::move(judged.error()));
  return text;
}

}  // namespace jaxprof::launcher
