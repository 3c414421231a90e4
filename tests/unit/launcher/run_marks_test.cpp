#include "launcher/run_marks.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

TEST(MakeMark, OneOfManyMakesIt) {
  test::TempFolder folder;
  std::atomic<int> made{0};
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 8; ++i) {
      threads.emplace_back([&] { made += make_mark(folder.file("said.last")) ? 1 : 0; });
    }
  }
  EXPECT_EQ(made, 1);
  EXPECT_FALSE(make_mark("/no/such/folder/x"));
}

TEST(TakeUnprofiledLine, GivesThreeLinesANode) {
  test::TempFolder folder;
  const std::string node = folder.file("node");
  for (const int expected : {1, 2, 3, 0, 0}) EXPECT_EQ(take_unprofiled_line(node, getuid()), expected);
}

TEST(TakeUnprofiledLine, PrintsWhereNoMarkCanBeMade) {
  EXPECT_EQ(take_unprofiled_line("/no/such/folder/x", getuid()), 1);
  test::TempFolder folder;
  EXPECT_EQ(take_unprofiled_line(folder.path(), getuid() + 1), 1) << "another user's folder";
  std::filesystem::create_directory_symlink(folder.path(), folder.file("link"));
  EXPECT_EQ(take_unprofiled_line(folder.file("link"), getuid()), 1) << "a link set as a trap";
}

}  // namespace
}  // namespace jaxprof::launcher
