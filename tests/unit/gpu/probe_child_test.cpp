#include "netsampler/gpu/probe_child.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>

namespace jaxprof::netsampler {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr auto kPatience = std::chrono::seconds(60);

// All that the child writes until it closes its output.
std::string read_all(const ProbeChild& child) {
  std::string text;
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < until) {
    pollfd wait{child.descriptor(), POLLIN, 0};
    ::poll(&wait, 1, 1000);
    char bytes[4096];
    const ssize_t count = read(child.descriptor(), bytes, sizeof bytes);
    if (count == 0) return text;
    if (count > 0) text.append(bytes, static_cast<std::size_t>(count));
  }
  ADD_FAILURE() << "no end of output";
  return text;
}

std::optional<int> wait_for_end(ProbeChild* child) {
  const auto until = std::chrono::steady_clock::now() + kPatience;
  std::optional<int> status = child->wait_status();
  while (!status.has_value() && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    status = child->wait_status();
  }
  return status;
}

std::string output_of(const std::string& script) {
  ProbeChild child;
  const Status started = child.start("/bin/sh", {"-c", script});
  if (!started) return started.error().message;
  return read_all(child);
}

// Gone, or a zombie that only waits for its parent.
bool is_gone(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::stringstream text;
  text << file.rdbuf();
  const std::string line = text.str();
  return line.empty() || line.find(") Z ") != std::string::npos;
}

TEST(ProbeChild, WritesToThePipeAndEndsWithItsStatus) {
  ProbeChild child;
  ASSERT_TRUE(child.start("/bin/sh", {"-c", "echo $0 $1; exit 3", "one", "two"}));
  EXPECT_EQ(read_all(child), "one two\n");
  const std::optional<int> status = wait_for_end(&child);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(describe_end(*status), "exit status 3");
  EXPECT_EQ(child.wait_status(), status);
}

TEST(ProbeChild, TellsTheSignalThatEndedIt) {
  ProbeChild child;
  ASSERT_TRUE(child.start("/bin/sh", {"-c", "kill -SEGV $$"}));
  const std::optional<int> status = wait_for_end(&child);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(describe_end(*status), "signal 11 (Segmentation fault)");
}

TEST(ProbeChild, DoesNotStartWithoutAProgram) {
  ProbeChild child;
  const Status started = child.start("/no/such/program", {});
  ASSERT_FALSE(started);
  EXPECT_THAT(started.error().message, HasSubstr("/no/such/program: No such file"));
  EXPECT_EQ(child.descriptor(), -1);
}

TEST(ProbeChild, HasAProcessGroupOfItsOwn) {
  EXPECT_EQ(output_of("read -r _ _ _ _ group _ < /proc/self/stat; [ $group = $$ ] && echo own"), "own\n");
}

TEST(ProbeChild, HasNothingOpenButItsOutput) {
  const UniqueFd left_open(open("/dev/null", O_RDONLY));  // as an inherited descriptor is, without O_CLOEXEC
  ASSERT_TRUE(left_open);
  const std::string seen = output_of("ls -l /proc/$$/fd");
  EXPECT_THAT(seen, testing::ContainsRegex("0 -> /dev/null"));
  EXPECT_THAT(seen, testing::ContainsRegex("1 -> pipe:"));
  EXPECT_THAT(seen, testing::ContainsRegex("2 -> /dev/null"));
  EXPECT_THAT(seen, Not(HasSubstr(std::to_string(left_open.get()) + " -> ")));
}

TEST(ProbeChild, IsNotPreloadedWithWhatIsForTheJob) {
  setenv("LD_PRELOAD", "/no/such/preload.so", 1);
  setenv("PROBE_CHILD_TEST", "kept", 1);
  const std::string seen = output_of("echo \"$PROBE_CHILD_TEST ${LD_PRELOAD-unset}\"");
  unsetenv("LD_PRELOAD");
  EXPECT_EQ(seen, "kept unset\n");
}

TEST(ProbeChild, IsKilledByEnd) {
  ProbeChild child;
  ASSERT_TRUE(child.start("/bin/sh", {"-c", "trap '' TERM HUP INT; sleep 1000 & wait"}));
  child.end();
  const std::optional<int> status = wait_for_end(&child);
  ASSERT_TRUE(status.has_value());
  EXPECT_EQ(describe_end(*status), "signal 9 (Killed)");
}

TEST(ProbeChild, EndsWithItsParentHoweverThatDies) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t parent = fork();
  if (parent == 0) {
    ProbeChild child;
    if (!child.start("/bin/sh", {"-c", "echo $$; exec sleep 1000"})) _exit(1);
    pid_t pid = 0;
    pollfd wait{child.descriptor(), POLLIN, 0};
    ::poll(&wait, 1, 60'000);
    char text[32] = {};
    if (read(child.descriptor(), text, sizeof text - 1) > 0) pid = static_cast<pid_t>(std::strtol(text, nullptr, 10));
    if (write(ends[1], &pid, sizeof pid) != sizeof pid) _exit(1);
    for (;;) pause();
  }
  pid_t pid = 0;
  ASSERT_EQ(read(ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
  ASSERT_GT(pid, 0);
  EXPECT_FALSE(is_gone(pid));
  kill(parent, SIGKILL);
  waitpid(parent, nullptr, 0);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!is_gone(pid) && std::chrono::steady_clock::now() < until) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  EXPECT_TRUE(is_gone(pid));
  if (!is_gone(pid)) kill(pid, SIGKILL);
  close(ends[0]);
  close(ends[1]);
}

}  // namespace
}  // namespace jaxprof::netsampler
