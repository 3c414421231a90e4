#include "launcher/node_folder.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "agent/contract/node_tasks.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

// Another wrapper: a process that is registered until its input ends.
class OtherTask {
 public:
  explicit OtherTask(const std::string& folder) {
    int to[2], from[2];
    EXPECT_EQ(pipe(to) + pipe(from), 0);
    pid_ = fork();
    if (pid_ == 0) {
      close(to[1]);
      const auto place = NodeFolder::join(folder, getuid(), getpid());
      char byte = place ? 'y' : 'n';
      if (write(from[1], &byte, 1) == 1 && read(to[0], &byte, 1) < 0) _exit(1);
      _exit(0);  // as if it was killed: nothing is taken back
    }
    close(to[0]);
    close(from[1]);
    end_ = to[1];
    char byte = 'n';
    EXPECT_EQ(read(from[0], &byte, 1), 1);
    EXPECT_EQ(byte, 'y');
    close(from[0]);
  }
  void die() {
    close(end_);
    waitpid(pid_, nullptr, 0);
  }

 private:
  pid_t pid_ = -1;
  int end_ = -1;
};

class NodeFolderTest : public testing::Test {
 protected:
  bool is_there() const { return std::filesystem::exists(path_); }

  test::TempFolder folder_;
  std::string path_ = folder_.file("run.node");
};

TEST_F(NodeFolderTest, TheOnlyTaskTakesItAway) {
  auto place = NodeFolder::join(path_, getuid(), getpid());
  ASSERT_TRUE(place);
  std::ofstream(path_ + "/publish") << "8 bytes.";
  std::ofstream(path_ + "/unprofiled.1") << "";
  place->leave();
  EXPECT_FALSE(is_there());
}

TEST_F(NodeFolderTest, ALivingTaskKeepsItForOthers) {
  OtherTask other(path_);
  auto place = NodeFolder::join(path_, getuid(), getpid());
  std::ofstream(path_ + "/publish") << "8 bytes.";
  place->leave();
  EXPECT_TRUE(std::filesystem::exists(path_ + "/publish"));
  other.die();
  remove_deserted_node_folder(path_);
  EXPECT_FALSE(is_there());
}

TEST_F(NodeFolderTest, AKilledTaskIsNotWaitedFor) {
  OtherTask(path_).die();
  ASSERT_TRUE(is_there());
  auto place = NodeFolder::join(path_, getuid(), getpid());
  place->leave();
  EXPECT_FALSE(is_there());
}

TEST_F(NodeFolderTest, AnothersFolderIsLeftAlone) {
  std::filesystem::create_directory(path_);
  EXPECT_FALSE(make_node_folder(path_, getuid() + 1));
  std::filesystem::create_directory_symlink(path_, folder_.file("link"));
  EXPECT_FALSE(make_node_folder(folder_.file("link"), getuid()));
  EXPECT_FALSE(NodeFolder::join("/proc/none/x", getuid(), getpid()));
}

TEST(FileLock, SaysWhoHasIt) {
  test::TempFolder folder;
  const std::string path = folder.file("owner");
  const pid_t child = fork();
  if (child == 0) {
    const auto lock = try_lock(path, Missing::kCreate);
    std::ofstream(folder.file("ready")) << "";
    while (lock) pause();
  }
  while (!std::filesystem::exists(folder.file("ready"))) usleep(1000);
  const auto held = try_lock(path, Missing::kCreate);
  ASSERT_TRUE(held);
  EXPECT_FALSE(held->is_held());
  EXPECT_EQ(held->holder, child);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(try_lock(path, Missing::kCreate)->is_held());
}

TEST(FileLock, IsNoLockOnAFileThatIsGone) {
  test::TempFolder folder;
  const auto lock = try_lock(folder.file("none"), Missing::kLeave);
  ASSERT_TRUE(lock);
  EXPECT_FALSE(lock->is_held());
  EXPECT_EQ(lock->holder, -1);
  const auto without_folder = try_lock(folder.file("none/owner"), Missing::kCreate);
  ASSERT_TRUE(without_folder);
  EXPECT_EQ(without_folder->holder, -1);
  EXPECT_FALSE(try_lock(folder.path(), Missing::kCreate)) << "a folder is no file";
}

}  // namespace
}  // namespace jaxprof::launcher
