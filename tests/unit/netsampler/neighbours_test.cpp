#include "netsampler/node/neighbours.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "agent/base/file_lock.h"
#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/registered_task.h"

namespace jaxprof::netsampler {
namespace {

constexpr uid_t kOtherUser = 54'321;  // has no processes but this test's
constexpr uid_t kOwnUser = 54'322;

// A process that has done `start` and then waits to be killed.
class Other {
 public:
  explicit Other(const std::function<bool()>& start) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    pid_ = fork();
    if (pid_ == 0) {
      const char byte = start() ? 'y' : 'n';
      if (write(ends[1], &byte, 1) == 1) pause();
      _exit(1);
    }
    char byte = 'n';
    EXPECT_EQ(read(ends[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    close(ends[0]);
    close(ends[1]);
  }
  Other(const Other&) = delete;
  Other& operator=(const Other&) = delete;
  ~Other() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
};

// As a user who is not root sees it.
bool has_neighbour_as(uid_t user, const std::string& folder) {
  const pid_t child = fork();
  if (child == 0) _exit(setuid(user) == 0 && has_neighbour(folder) ? 1 : 0);
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status) == 1;
}

class NeighboursTest : public testing::Test {
 protected:
  std::string folder_of(uid_t user, const char* run) {
    const std::string folder = run_layout::node_marks_directory(base_.path(), user, run);
    std::filesystem::create_directory(folder);
    return folder;
  }

  test::TempFolder base_;
  std::string own_ = folder_of(getuid(), "7.0.0");
};

TEST_F(NeighboursTest, AnotherRunCountsAsLongAsItsObserverLives) {
  EXPECT_FALSE(has_neighbour(own_));
  const std::string file = run_layout::node_observer_path(folder_of(getuid(), "7.1.0"));
  EXPECT_FALSE(has_neighbour(own_)) << "it has none";
  {
    const Other observer([&] {
      static const auto lock = try_lock(file, Missing::kCreate);
      return lock && lock->is_held();
    });
    EXPECT_TRUE(has_neighbour(own_));
  }
  EXPECT_FALSE(has_neighbour(own_)) << "its file is still there";
}

TEST_F(NeighboursTest, TheOwnRunIsNone) {
  const std::string file = run_layout::node_observer_path(own_);
  const Other observer([&] {
    static const auto lock = try_lock(file, Missing::kCreate);
    return lock && lock->is_held();
  });
  EXPECT_FALSE(has_neighbour(own_));
}

TEST_F(NeighboursTest, WhatAnEndedRunHasLeftIsRemoved) {
  const std::string ended = folder_of(getuid(), "7.1.0");
  std::ofstream(run_layout::node_observer_path(ended)) << "";
  std::ofstream(run_layout::node_plain_task_path(ended, getpid(), 1)) << "";  // this process began later
  const std::string living = folder_of(getuid(), "7.2.0");
  const test::RegisteredTask task(living);
  const std::string of_another = folder_of(getuid() + 1, "7.3.0");
  const std::string observed = folder_of(getuid(), "7.4.0");
  const Other observer([&] {
    static const auto lock = try_lock(run_layout::node_observer_path(observed), Missing::kCreate);
    return lock && lock->is_held();
  });
  remove_deserted_neighbours(own_);
  EXPECT_FALSE(std::filesystem::exists(ended));
  for (const std::string& folder : {own_, living, of_another, observed}) {
    EXPECT_TRUE(std::filesystem::exists(folder)) << folder;
  }
}

TEST_F(NeighboursTest, AnotherUsersFolderCountsWhileThatUserHasAnObserver) {
  if (getuid() != 0) GTEST_SKIP() << "needs to be another user";
  const std::string folder = folder_of(kOtherUser, "8.0.0");
  std::ofstream(run_layout::node_observer_path(folder)) << "";
  ASSERT_EQ(chown(folder.c_str(), kOtherUser, kOtherUser) + chmod(folder.c_str(), 0700), 0);
  ASSERT_EQ(chmod(base_.path().c_str(), 0755), 0);
  EXPECT_FALSE(has_neighbour_as(kOwnUser, own_));
  const Other observer([] { return prctl(PR_SET_NAME, "jaxprof-netsampler") == 0 && setuid(kOtherUser) == 0; });
  EXPECT_TRUE(has_neighbour_as(kOwnUser, own_));
}

}  // namespace
}  // namespace jaxprof::netsampler
