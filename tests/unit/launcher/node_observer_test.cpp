// Observers that are shell scripts: they say that they were started, hold the place or do not, and end when told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "agent/base/atomic_file.h"
#include "agent/base/file_lock.h"
#include "agent/contract/run_layout.h"
#include "launcher/observer_start.h"
#include "launcher/observer_turns.h"
#include "launcher/observer_watch.h"
#include "launcher/own_children.h"
#include "launcher/sampler_program.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

using testing::HasSubstr;

class ObserverTest : public testing::Test {
 protected:
  std::string script(const std::string& body) {
    const std::string path = folder_.file("observer");
    std::ofstream(path) << "#!/bin/sh\n" << body << "\n";
    chmod(path.c_str(), 0700);
    return path;
  }
  // The file's text once it is there and has a line's end.
  static std::string wait_for_line(const std::string& path) {
    for (int i = 0; i < 6000; ++i) {
      const auto text = read_small_file(path);
      if (text && text->ends_with('\n')) return *text;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return "";
  }

  test::TempFolder folder_;
  std::string said_ = folder_.file("said");
};

TEST_F(ObserverTest, IsNoChildAndInASessionOfItsOwn) {
  const auto before = own_children();
  const auto pid =
      start_observer({script("ps -o sid=,pid= -p $$ > \"$1.new\"; mv \"$1.new\" \"$1\"; exec sleep 60"), said_},
                     {"PATH=/usr/bin:/bin"});
  ASSERT_TRUE(pid) << pid.error().message;
  EXPECT_GT(*pid, 0);
  std::istringstream said(wait_for_line(said_));
  pid_t session = 0, process = 0;
  said >> session >> process;
  EXPECT_EQ(process, *pid);
  EXPECT_EQ(session, *pid);
  EXPECT_EQ(own_children(), before);
  kill(*pid, SIGKILL);
}

TEST_F(ObserverTest, AProgramThatCannotRunIsNamed) {
  const auto missing = start_observer({"/proc/none/observer"}, {});
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("cannot start /proc/none/observer: No such file"));
  std::ofstream(folder_.file("text")) << "no program";
  chmod(folder_.file("text").c_str(), 0700);
  EXPECT_THAT(start_observer({folder_.file("text")}, {}).error().message, HasSubstr("Exec format error"));
}

TEST_F(ObserverTest, OfAllTasksOneStartsTheFirst) {
  const ObserverTurns turns(folder_.path());
  EXPECT_TRUE(turns.take_first());
  EXPECT_FALSE(turns.take_first());
  EXPECT_FALSE(ObserverTurns(folder_.file("none")).take_first()) << "no folder, no turn";
}

TEST_F(ObserverTest, StartsAreLimited) {
  const ObserverTurns turns(folder_.path());
  ASSERT_TRUE(turns.take_first());
  int starts = 1;
  while (turns.take_next()) ++starts;
  EXPECT_EQ(starts, ObserverTurns::kMost);
}

TEST_F(ObserverTest, NoneIsStartedWhileOneLives) {
  const std::string lock = run_layout::node_observer_path(folder_.path());
  int ready[2], end[2];
  ASSERT_EQ(pipe(ready) + pipe(end), 0);
  const pid_t holder = fork();
  if (holder == 0) {
    close(end[1]);
    const auto held = try_lock(lock, Missing::kCreate);
    char byte = held && held->is_held() ? 'y' : 'n';
    if (write(ready[1], &byte, 1) == 1 && read(end[0], &byte, 1) < 0) _exit(1);
    _exit(0);
  }
  close(end[0]);
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  ASSERT_EQ(byte, 'y');
  const ObserverTurns turns(folder_.path());
  EXPECT_FALSE(turns.take_first());
  EXPECT_FALSE(turns.take_next());
  close(end[1]);
  waitpid(holder, nullptr, 0);
  EXPECT_TRUE(turns.take_next());
  for (const int fd : ready) close(fd);
}

TEST_F(ObserverTest, AWatchStartsOneWhereNoneLivesAndTellsItsNumber) {
  std::atomic<pid_t> started{0};
  const std::string program = script("echo $$ > \"$1.new\"; mv \"$1.new\" \"$1\"; exec sleep 60");
  ObserverWatch watch({program, said_}, {"PATH=/usr/bin:/bin"}, folder_.path(), 0, [&started](pid_t pid) {
    started = pid;
    started.notify_all();
  });
  watch.start();
  started.wait(0);
  watch.stop();
  EXPECT_EQ(wait_for_line(said_), std::to_string(started) + "\n");
  kill(started, SIGKILL);
}

TEST_F(ObserverTest, AWatchThatIsStoppedAtOnceStartsNone) {
  ObserverWatch watch({script("true")}, {}, folder_.path(), 4999, [](pid_t) { FAIL(); });
  watch.start();
  watch.stop();
  EXPECT_FALSE(std::filesystem::exists(run_layout::node_observer_start_path(folder_.path(), 0)));
}

TEST_F(ObserverTest, TheProgramIsTheOneThatIsNamedOrLiesBeside) {
  const std::string named = "JAXPROF_NETSAMPLER=" + script("true");
  const char* entries[] = {named.c_str(), nullptr};
  EXPECT_EQ(*find_sampler("/opt/bin/jaxprof-exec", Env(entries)), folder_.file("observer"));
  const char* none[] = {nullptr};
  std::filesystem::rename(folder_.file("observer"), folder_.file("jaxprof-netsampler"));
  EXPECT_EQ(*find_sampler(folder_.file("jaxprof-exec"), Env(none)), folder_.file("jaxprof-netsampler"));
  EXPECT_THAT(find_sampler("/proc/none/jaxprof-exec", Env(none)).error().message,
              HasSubstr("cannot execute /proc/none/jaxprof-netsampler"));
}

}  // namespace
}  // namespace jaxprof::launcher
