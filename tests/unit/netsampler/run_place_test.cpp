#include "netsampler/node/run_place.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "agent/contract/run_layout.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/registered_task.h"

namespace jaxprof::netsampler {
namespace {

constexpr std::uint64_t kSecond = 1'000'000'000;

// What another observer finds: 0 it has the place, 1 it has not, 2 an error.
int take_in_another_process(const std::string& folder) {
  const pid_t child = fork();
  if (child == 0) {
    const auto place = RunPlace::take(folder);
    _exit(!place ? 2 : *place ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WEXITSTATUS(status);
}

class RunPlaceTest : public testing::Test {
 protected:
  test::TempFolder base_;
  std::string folder_ = base_.file("jaxprof.0.7.0.0.node");
};

TEST_F(RunPlaceTest, OneObserverARun) {
  std::filesystem::create_directory(folder_);
  {
    const auto place = RunPlace::take(folder_);
    ASSERT_TRUE(place && *place);
    EXPECT_EQ(take_in_another_process(folder_), 1);
  }
  EXPECT_EQ(take_in_another_process(folder_), 0) << "the first has ended";
}

TEST_F(RunPlaceTest, WithoutTheTasksFolderThereIsNothingToObserve) {
  EXPECT_EQ(take_in_another_process(folder_), 1);
}

TEST_F(RunPlaceTest, ItIsOverWhenTheLastTaskHasDied) {
  test::RegisteredTask first(folder_);
  test::RegisteredTask second(folder_);
  auto place = RunPlace::take(folder_);
  ASSERT_TRUE(place && *place);
  EXPECT_FALSE((*place)->is_over(1));
  first.die();
  EXPECT_FALSE((*place)->is_over(100 * kSecond));
  second.die();
  EXPECT_TRUE((*place)->is_over(100 * kSecond));
  EXPECT_EQ(take_in_another_process(folder_), 0) << "the place is free at once";
  (*place)->leave();
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

TEST_F(RunPlaceTest, ATaskThatDiesBeforeTheFirstLookWasSeen) {
  test::RegisteredTask task(folder_);
  auto place = RunPlace::take(folder_);
  ASSERT_TRUE(place && *place);
  task.die();
  EXPECT_TRUE((*place)->is_over(1));
}

TEST_F(RunPlaceTest, TheFirstTaskIsWaitedForThirtySeconds) {
  std::filesystem::create_directory(folder_);
  auto place = RunPlace::take(folder_);
  ASSERT_TRUE(place && *place);
  EXPECT_FALSE((*place)->is_over(5 * kSecond));
  EXPECT_FALSE((*place)->is_over(35 * kSecond - 1));
  EXPECT_TRUE((*place)->is_over(35 * kSecond));
}

TEST_F(RunPlaceTest, AFolderThatWasTakenAwayEndsIt) {
  test::RegisteredTask task(folder_);
  auto place = RunPlace::take(folder_);
  ASSERT_TRUE(place && *place);
  EXPECT_FALSE((*place)->is_over(1));
  std::filesystem::remove_all(folder_);
  EXPECT_TRUE((*place)->is_over(2));
}

TEST_F(RunPlaceTest, WhoLeavesWhileTasksLiveLeavesThemTheirFolder) {
  test::RegisteredTask task(folder_);
  auto place = RunPlace::take(folder_);
  ASSERT_TRUE(place && *place);
  (*place)->leave();
  EXPECT_EQ(take_in_another_process(folder_), 0);
  EXPECT_TRUE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace jaxprof::netsampler
