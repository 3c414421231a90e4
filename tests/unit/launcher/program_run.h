// Starts jaxprof-exec as a launcher would, in a process group of its own, with a given environment and stdin, and
// keeps what it wrote.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "agent/base/atomic_file.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::test {

struct Outcome {
  int exit_code = -1;  // -1: died of `signal`
  int signal = 0;
  pid_t pid = 0;
  std::string out;
  std::string err;
};

// Descriptors of the test for the program's standard streams; -1: a file that the test reads afterwards.
struct Streams {
  static constexpr int kClosed = -2;
  int in = -1;
  int out = -1;
  int err = -1;
};

class ProgramRun {
 public:
  // `folder` is the working directory. The environment is `environment` and nothing else.
  ProgramRun(const std::string& folder, const std::vector<std::string>& arguments,
             const std::vector<std::string>& environment, const std::string& input = "", bool ignores_children = false,
             const Streams& streams = {}, const std::optional<rlimit>& file_size_limit = std::nullopt) {
    std::ofstream(files_.file("in")) << input;
    std::vector<std::string> words = {JAXPROF_EXEC};
    words.insert(words.end(), arguments.begin(), arguments.end());
    const std::vector<char*> argv = pointers(words);
    const std::vector<char*> envp = pointers(environment);
    pid_ = fork();
    if (pid_ != 0) return;
    setpgid(0, 0);
    if (chdir(folder.c_str()) != 0) _exit(99);
    redirect("in", streams.in, O_RDONLY, 0);
    redirect("out", streams.out, O_WRONLY | O_CREAT | O_APPEND, 1);
    redirect("err", streams.err, O_WRONLY | O_CREAT | O_APPEND, 2);
    if (file_size_limit) setrlimit(RLIMIT_FSIZE, &*file_size_limit);
    if (ignores_children) ::signal(SIGCHLD, SIG_IGN);
    execve(argv[0], argv.data(), envp.data());
    _exit(98);
  }
  ProgramRun(const ProgramRun&) = delete;
  ProgramRun& operator=(const ProgramRun&) = delete;
  ~ProgramRun() {
    if (pid_ > 0) kill(-pid_, SIGKILL);
    if (pid_ > 0) waitpid(pid_, nullptr, 0);
  }

  pid_t pid() const { return pid_; }

  // Until the output holds `text` so many times; false after ten seconds.
  bool waits_for_output(const std::string& text, std::size_t times = 1) const {
    for (int i = 0; i < 2000; ++i) {
      const std::string out = read("out");
      std::size_t count = 0;
      for (std::size_t at = 0; (at = out.find(text, at)) != std::string::npos; at += text.size()) ++count;
      if (count >= times) return true;
      const timespec pause{0, 5'000'000};
      nanosleep(&pause, nullptr);
    }
    return false;
  }

  Outcome wait() {
    Outcome outcome;
    int status = 0;
    outcome.pid = pid_;
    waitpid(std::exchange(pid_, -1), &status, 0);
    if (WIFEXITED(status)) outcome.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) outcome.signal = WTERMSIG(status);
    outcome.out = read("out");
    outcome.err = read("err");
    return outcome;
  }

 private:
  static std::vector<char*> pointers(const std::vector<std::string>& words) {
    std::vector<char*> result;
    for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
    result.push_back(nullptr);
    return result;
  }
  void redirect(const char* name, int given, int flags, int fd) const {
    if (given == Streams::kClosed) {
      close(fd);
      return;
    }
    const int file = given >= 0 ? given : open(files_.file(name).c_str(), flags, 0600);
    if (file < 0 || dup2(file, fd) < 0) _exit(97);
    if (file != fd) close(file);
  }
  std::string read(const char* name) const { return read_small_file(files_.file(name)).value_or(""); }

  TempFolder files_;
  pid_t pid_ = -1;
};

}  // namespace jaxprof::test
