#include "agent/base/harmless_write.h"

#include <errno.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>

#include "agent/base/unique_fd.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof {
namespace {

struct Pipe {
  UniqueFd in, out;
};

Pipe make_pipe() {
  int ends[2];
  EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool is_pending(int signal) {
  sigset_t pending;
  sigpending(&pending);
  return sigismember(&pending, signal) == 1;
}

bool is_blocked(int signal) {
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, nullptr, &mask);
  return sigismember(&mask, signal) == 1;
}

TEST(WriteHarmlessly, WritesTheText) {
  const Pipe pipe = make_pipe();
  EXPECT_TRUE(write_harmlessly(pipe.out.get(), "one line\n"));
  char text[32];
  ASSERT_EQ(read(pipe.in.get(), text, sizeof text), 9);
  EXPECT_EQ(std::string(text, 9), "one line\n");
}

TEST(WriteHarmlessly, SurvivesAReaderThatIsGone) {
  Pipe pipe = make_pipe();
  pipe.in.reset();
  EXPECT_FALSE(write_harmlessly(pipe.out.get(), "x"));
  EXPECT_FALSE(is_pending(SIGPIPE));
  EXPECT_FALSE(is_blocked(SIGPIPE));
}

TEST(WriteHarmlessly, LeavesASignalThatWasPendingBefore) {
  sigset_t pipe_signal, before;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
  raise(SIGPIPE);
  Pipe pipe = make_pipe();
  pipe.in.reset();
  EXPECT_FALSE(write_harmlessly(pipe.out.get(), "x"));
  EXPECT_TRUE(is_pending(SIGPIPE));
  EXPECT_TRUE(is_blocked(SIGPIPE));
  const timespec at_once{0, 0};
  EXPECT_EQ(sigtimedwait(&pipe_signal, nullptr, &at_once), SIGPIPE);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

TEST(WriteHarmlessly, SurvivesTheLimitOfAFilesSize) {
  const test::TempFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    const UniqueFd file(open(folder.file("err").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    _exit(write_harmlessly(file.get(), "x") || is_pending(SIGXFSZ) ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 0);
}

// The test's own time limit is what would find a hang.
TEST(WriteHarmlessly, LosesTheTextWhereAPipeIsFull) {
  const Pipe pipe = make_pipe();
  fcntl(pipe.out.get(), F_SETFL, O_NONBLOCK);
  const std::string page(4096, 'x');
  while (write(pipe.out.get(), page.data(), page.size()) > 0) {
  }
  fcntl(pipe.out.get(), F_SETFL, 0);
  EXPECT_FALSE(write_harmlessly(pipe.out.get(), "line\n"));
  EXPECT_EQ(fcntl(pipe.out.get(), F_GETFL) & O_NONBLOCK, 0) << "the description is the job's too";
}

TEST(WriteHarmlessly, GivesUpOnALongTextHalfWay) {
  const Pipe pipe = make_pipe();
  EXPECT_FALSE(write_harmlessly(pipe.out.get(), std::string(1 << 20, 'x')));
}

TEST(WriteHarmlessly, IsFalseForNoDescriptor) {
  EXPECT_FALSE(write_harmlessly(-1, "x"));
  EXPECT_FALSE(write_harmlessly(1 << 20, "x"));
}

}  // namespace
}  // namespace jaxprof
