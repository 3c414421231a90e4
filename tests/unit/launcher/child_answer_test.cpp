#include "launcher/child_answer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

// The answer once there is one; "(none)" after 20 s.
std::string wait_for(std::optional<ChildAnswer> answer) {
  for (int i = 0; answer && i < 4000; ++i) {
    if (const auto text = answer->poll()) return *text;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  return "(none)";
}

class ChildAnswerTest : public testing::Test {
 protected:
  // Some sanitizers flush in _exit what a child has inherited of the parent's buffers.
  ChildAnswerTest() { std::fflush(stdout); }
  ~ChildAnswerTest() override {
    while (waitpid(-1, nullptr, 0) > 0) {
    }
  }
  test::TempFolder folder_;
};

TEST_F(ChildAnswerTest, IsWhatACommandWrites) {
  EXPECT_EQ(wait_for(ChildAnswer::of_command({"sh", "-c", "echo \"$A$1\"; echo no >&2", "sh", "b c"}, {"A=a"}, 10)),
            "ab c\n");
}

TEST_F(ChildAnswerTest, IsEmptyWhereThereIsNoSuchCommand) {
  EXPECT_EQ(wait_for(ChildAnswer::of_command({"/no/such/command"}, {}, 10)), "");
}

TEST_F(ChildAnswerTest, ComesInTimeFromACommandThatHangs) {
  EXPECT_EQ(wait_for(ChildAnswer::of_command({"sh", "-c", "echo so far; exec sleep 1000"}, {}, 1)), "so far\n");
}

TEST_F(ChildAnswerTest, DoesNotMakeTheAskerWait) {
  auto answer = ChildAnswer::of_command({"sleep", "1000"}, {}, 1);
  ASSERT_TRUE(answer);
  EXPECT_FALSE(answer->poll());
}

TEST_F(ChildAnswerTest, TellsWhoMadeAMark) {
  EXPECT_EQ(wait_for(ChildAnswer::of_new_mark(folder_.file("mark"), 10)), "made");
  EXPECT_TRUE(std::filesystem::exists(folder_.file("mark")));
  EXPECT_EQ(wait_for(ChildAnswer::of_new_mark(folder_.file("mark"), 10)), "");
  EXPECT_EQ(wait_for(ChildAnswer::of_new_mark("/no/such/folder/mark", 10)), "");
}

}  // namespace
}  // namespace jaxprof::launcher
