#include "agent/base/atomic_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include "agent/base/unique_fd.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof {
namespace {

std::size_t files_in(const std::string& folder) {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) count += entry.exists() ? 1 : 0;
  return count;
}

TEST(WriteAtomicFile, LeavesTheContentAndNoTemporaryFile) {
  test::TempFolder folder;
  const auto written = write_atomic_file(folder.file("a"), "text", Publish::kIfAbsent);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_TRUE(*written);
  EXPECT_EQ(*read_small_file(folder.file("a")), "text");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteAtomicFile, IfAbsentLeavesAnOlderFileAlone) {
  test::TempFolder folder;
  ASSERT_TRUE(*write_atomic_file(folder.file("a"), "first", Publish::kIfAbsent));
  const auto second = write_atomic_file(folder.file("a"), "second", Publish::kIfAbsent);
  ASSERT_TRUE(second);
  EXPECT_FALSE(*second);
  EXPECT_EQ(*read_small_file(folder.file("a")), "first");
  EXPECT_EQ(files_in(folder.path()), 1u);
}

TEST(WriteAtomicFile, ReplacePutsTheNewOneThere) {
  test::TempFolder folder;
  ASSERT_TRUE(*write_atomic_file(folder.file("a"), "first", Publish::kReplace));
  ASSERT_TRUE(*write_atomic_file(folder.file("a"), "second", Publish::kReplace));
  EXPECT_EQ(*read_small_file(folder.file("a")), "second");
}

TEST(WriteAtomicFile, ReplaceWritesToWhatIsNoRegularFile) {
  test::TempFolder folder;
  ASSERT_EQ(mkfifo(folder.file("fifo").c_str(), 0600), 0);
  const UniqueFd reader(open(folder.file("fifo").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  ASSERT_TRUE(write_atomic_file(folder.file("fifo"), "text", Publish::kReplace));
  EXPECT_TRUE(std::filesystem::is_fifo(folder.file("fifo")));
  char text[8];
  ASSERT_EQ(read(reader.get(), text, sizeof text), 4);
  EXPECT_EQ(std::string(text, 4), "text");

  std::ofstream(folder.file("target")) << "a longer text";
  std::filesystem::create_symlink("target", folder.file("link"));
  ASSERT_TRUE(write_atomic_file(folder.file("link"), "text", Publish::kReplace));
  EXPECT_TRUE(std::filesystem::is_symlink(folder.file("link")));
  EXPECT_EQ(*read_small_file(folder.file("target")), "text");
}

TEST(WriteAtomicFile, ReplaceReportsADeviceThatTakesNothing) {
  test::TempFolder folder;
  if (mknod(folder.file("full").c_str(), S_IFCHR | 0666, makedev(1, 7)) != 0) {
    GTEST_SKIP() << "cannot make a device: " << std::strerror(errno);
  }
  const auto written = write_atomic_file(folder.file("full"), "text", Publish::kReplace);
  EXPECT_TRUE(std::filesystem::is_character_file(folder.file("full")));
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kOutputFailed);
}

TEST(WriteAtomicFile, OfRacingWritersOneWinsAndItsContentIsWhole) {
  constexpr int kRounds = 50;
  test::TempFolder folder;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = folder.file("race") + std::to_string(round);
    std::atomic<int> wins{0};
    std::string contents[2] = {std::string(10'000, 'a'), std::string(10'000, 'b')};
    std::vector<std::jthread> writers;
    for (const std::string& content : contents) {
      writers.emplace_back([&wins, &path, &content] {
        const auto written = write_atomic_file(path, content, Publish::kIfAbsent);
        wins += written && *written ? 1 : 0;
      });
    }
    writers.clear();
    EXPECT_EQ(wins, 1);
    const std::string winner = *read_small_file(path);
    EXPECT_TRUE(winner == contents[0] || winner == contents[1]);
  }
  EXPECT_EQ(files_in(folder.path()), static_cast<std::size_t>(kRounds));
}

TEST(WriteAtomicFile, NamesThePathThatCannotBeWritten) {
  const auto written = write_atomic_file("/proc/no-such-folder/a", "text", Publish::kIfAbsent);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().code, ErrorCode::kOutputFailed);
  EXPECT_NE(written.error().message.find("/proc/no-such-folder/a"), std::string::npos);
}

TEST(ReadSmallFile, RefusesAFileAboveTheLimit) {
  test::TempFolder folder;
  std::ofstream(folder.file("a")) << std::string(101, 'x');
  EXPECT_FALSE(read_small_file(folder.file("a"), 100));
  EXPECT_EQ(read_small_file(folder.file("a"), 101)->size(), 101u);
}

TEST(ReadSmallFile, SaysThatAFileIsMissing) {
  const auto content = read_small_file("/no/such/file");
  ASSERT_FALSE(content);
  EXPECT_EQ(content.error().message, "cannot open /no/such/file: No such file or directory");
}

TEST(MakeDirectories, MakesParentsAndTakesWhatIsThere) {
  test::TempFolder folder;
  EXPECT_TRUE(make_directories(folder.file("a/b//c")));
  EXPECT_TRUE(make_directories(folder.file("a/b/c/")));
  EXPECT_TRUE(std::filesystem::is_directory(folder.file("a/b/c")));
  EXPECT_TRUE(make_directories("/"));
}

TEST(MakeDirectories, RefusesAFileInTheWay) {
  test::TempFolder folder;
  std::ofstream(folder.file("file")) << "x";
  EXPECT_FALSE(make_directories(folder.file("file")));
  EXPECT_FALSE(make_directories(folder.file("file/below")));
}

}  // namespace
}  // namespace jaxprof
