// The program itself, as jaxprof-exec starts it: beside a registered task, with descriptors of somebody else's.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/registered_task.h"
#include "tests/unit/netsampler/node_recording.h"

namespace jaxprof::netsampler {
namespace {

namespace fs = std::filesystem;

constexpr auto kPatience = std::chrono::seconds(60);

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

pid_t start(std::vector<std::string> words) {
  words.insert(words.begin(), JAXPROF_NETSAMPLER);
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    execv(argv[0], argv.data());
    _exit(127);
  }
  return child;
}

// Its exit status; -1 for a signal, and for one that does not end.
int wait_for(pid_t child) {
  const auto end = std::chrono::steady_clock::now() + kPatience;
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, nullptr, 0);
      ADD_FAILURE() << "the observer does not end";
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

class NetsamplerProgram : public testing::Test {
 protected:
  NetsamplerProgram() { fs::create_directory(state_); }

  pid_t start_observer() {
    return start({"--run-state", state_, "--node-folder", node_, "--run", "7.0.0", "--job", "7", "--host", "n1",
                  "--boot-id", "0123456789", "--no-gpu", "--nic-source", "netdev"});
  }
  std::string spool(std::uint32_t attempt) const {
    return run_layout::node_spool_path(state_, "n1", "0123456789", attempt);
  }
  // Until the first flush is in the file: it samples.
  void await(std::uint32_t attempt) const {
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (!fs::exists(spool(attempt)) || read_node_spool(spool(attempt)).anchors == 0) {
      ASSERT_LT(std::chrono::steady_clock::now(), end) << spool(attempt);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }

  test::TempFolder folder_;
  std::string state_ = folder_.file(".run-7.0.0");
  std::string node_ = folder_.file("jaxprof.0.7.0.0.node");
};

TEST_F(NetsamplerProgram, ObservesOnceUntilTheLastTaskHasDied) {
  test::RegisteredTask task(node_);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t observer = start_observer();
  close(ends[1]);
  await(0);
  EXPECT_EQ(wait_for(start_observer()), 0) << "a second one has nothing to do";
  EXPECT_FALSE(fs::exists(spool(1)));
  pollfd end_of_pipe{ends[0], POLLIN, 0};
  EXPECT_EQ(poll(&end_of_pipe, 1, 10'000), 1) << "it keeps nobody's descriptor";
  close(ends[0]);

  const std::string proc = "/proc/" + std::to_string(observer);
  EXPECT_EQ(fs::read_symlink(proc + "/cwd"), "/");
  EXPECT_EQ(getsid(observer), observer);
  EXPECT_EQ(getpriority(PRIO_PROCESS, static_cast<id_t>(observer)), 5 + getpriority(PRIO_PROCESS, 0));
  EXPECT_EQ(content(proc + "/oom_score_adj"), "500\n");
  EXPECT_THAT(content(proc + "/limits"), testing::ContainsRegex("Max core file size +0 +0"));
  for (const char* fd : {"/fd/0", "/fd/1", "/fd/2"}) EXPECT_EQ(fs::read_symlink(proc + fd), "/dev/null");
  for (const int number : {SIGHUP, SIGUSR1, SIGUSR2, SIGQUIT, SIGALRM, SIGCONT}) kill(observer, number);

  task.die();
  EXPECT_EQ(wait_for(observer), 0);
  EXPECT_FALSE(fs::exists(node_)) << "the last one takes it away";
  const auto recording = read_node_spool(spool(0));
  EXPECT_EQ(recording.error, "");
  EXPECT_TRUE(recording.health.has_footer);
  EXPECT_EQ(recording.identity.number(spool::IdentityKey::kPid), observer);
  ASSERT_EQ(recording.observers.size(), 1U);
  EXPECT_EQ(recording.observers[0].segment, 0U);
  EXPECT_GE(recording.readings.size(), 2U);
  ASSERT_FALSE(recording.services.empty());
  EXPECT_TRUE(recording.bursts.empty()) << "there is no other node";
  for (const auto& [number, stream] : recording.streams) EXPECT_EQ(stream.rows.back().flags & spool::kSampleLast, 32U);
}

TEST_F(NetsamplerProgram, AKilledOneIsFollowedByTheNextSegmentAndATermIsANormalEnd) {
  const test::RegisteredTask task(node_);
  const pid_t first = start_observer();
  await(0);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  const pid_t second = start_observer();
  await(1);
  kill(second, SIGTERM);
  EXPECT_EQ(wait_for(second), 0);
  EXPECT_TRUE(fs::exists(node_)) << "the task lives";
  const auto killed = read_node_spool(spool(0));
  EXPECT_EQ(killed.error, "");
  EXPECT_FALSE(killed.health.has_footer);
  const auto ended = read_node_spool(spool(1));
  EXPECT_TRUE(ended.health.has_footer);
  ASSERT_EQ(ended.observers.size(), 1U);
  EXPECT_EQ(ended.observers[0].segment, 1U);
}

TEST_F(NetsamplerProgram, TheLaterOfTwoRunsKnowsThatTheNodeIsShared) {
  const test::RegisteredTask task(node_);
  const pid_t first = start_observer();
  await(0);
  const std::string own_state = state_;
  state_ = folder_.file(".run-8.0.0");
  node_ = folder_.file("jaxprof.0.8.0.0.node");
  fs::create_directory(state_);
  const test::RegisteredTask other_task(node_);
  const pid_t second = start_observer();
  await(0);
  const auto recording = read_node_spool(spool(0));
  for (const pid_t observer : {first, second}) {
    kill(observer, SIGTERM);
    EXPECT_EQ(wait_for(observer), 0);
  }
  ASSERT_EQ(recording.observers.size(), 1U);
  EXPECT_EQ(recording.observers[0].is_shared, 1U);
  state_ = own_state;
  EXPECT_EQ(read_node_spool(spool(0)).observers.at(0).is_shared, 0U);
}

TEST_F(NetsamplerProgram, WithoutClocksItLeavesNothingOfThem) {
  const std::string out = folder_.file("alone.jxspool");
  EXPECT_EQ(wait_for(start({"--out", out, "--for", "150ms", "--no-gpu", "--nic-source", "netdev", "--clock", "off"})),
            0);
  const auto recording = read_node_spool(out);
  EXPECT_TRUE(recording.health.has_footer);
  EXPECT_TRUE(recording.readings.empty());
  EXPECT_TRUE(recording.services.empty());
}

TEST_F(NetsamplerProgram, AloneItWritesAFileThatMustNotExist) {
  const std::string out = folder_.file("alone.jxspool");
  EXPECT_EQ(wait_for(start({"--out", out, "--for", "250ms", "--no-gpu", "--nic-source", "netdev"})), 0);
  const auto recording = read_node_spool(out);
  EXPECT_TRUE(recording.health.has_footer);
  EXPECT_NE(recording.identity.text(spool::IdentityKey::kRunId), "") << "so that it can be merged";
  EXPECT_GE(recording.readings.size(), 2U);
  ASSERT_EQ(recording.services.size(), 1U);
  EXPECT_EQ(recording.texts.at(recording.services[0].reason), "the node is sampled alone");
  EXPECT_EQ(wait_for(start({"--out", out, "--for", "250ms", "--no-gpu"})), 5);
  EXPECT_EQ(wait_for(start({"--for", "1s"})), 2);
}

}  // namespace
}  // namespace jaxprof::netsampler
