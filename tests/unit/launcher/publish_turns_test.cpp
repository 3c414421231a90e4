#include "launcher/publish_turns.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kNow = 1000 * kSecond;

class PublishTurnsTest : public testing::Test {
 protected:
  test::TempFolder folder_;
  std::string path_ = folder_.file("publish");
};

TEST_F(PublishTurnsTest, APieceTakesAsLongAsTheRateGivesIt) {
  PublishTurns turns(path_, 1'000'000);
  EXPECT_EQ(turns.begin(kNow), 0);
  turns.end(100'000);
  EXPECT_EQ(turns.begin(kNow + 40'000'000), 60'000'000);
  EXPECT_EQ(turns.begin(kNow + 100'000'000), 0);
}

TEST_F(PublishTurnsTest, TheTasksOfANodeShareTheRate) {
  PublishTurns one(path_, 1'000'000), other(path_, 1'000'000);
  EXPECT_EQ(one.begin(kNow), 0);
  EXPECT_GT(other.begin(kNow), 0) << "the turn is the other's";
  one.end(50'000);
  EXPECT_EQ(other.begin(kNow), 50'000'000);
  EXPECT_EQ(other.begin(kNow + 50'000'000), 0);
}

TEST_F(PublishTurnsTest, AHundredTasksTogetherKeepToTheRate) {
  std::vector<PublishTurns> tasks;
  for (int i = 0; i < 100; ++i) tasks.emplace_back(path_, 10'000'000);
  std::uint64_t bytes = 0;
  for (std::int64_t now = kNow; now < kNow + 10 * kSecond; now += 1'000'000) {
    for (PublishTurns& task : tasks) {
      if (task.begin(now) != 0) continue;
      bytes += 30'000;
      task.end(30'000);
    }
  }
  EXPECT_NEAR(static_cast<double>(bytes), 100e6, 1e5);
}

TEST_F(PublishTurnsTest, NobodyWaitsLongerThanItTakesToLookAround) {
  PublishTurns turns(path_, 1);
  EXPECT_EQ(turns.begin(kNow), 0);
  turns.end(50);
  EXPECT_EQ(turns.begin(kNow + 1), PublishTurns::kMostWaitNs);
}

TEST_F(PublishTurnsTest, WhoDiesInHisTurnLetsGoOfIt) {
  {
    PublishTurns gone(path_, 1'000'000);
    EXPECT_EQ(gone.begin(kNow), 0);
  }
  EXPECT_EQ(PublishTurns(path_, 1'000'000).begin(kNow), 0);
}

TEST_F(PublishTurnsTest, ATimeOfAnotherBootIsNoReasonToWait) {
  std::ofstream(path_) << "\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f";
  EXPECT_EQ(PublishTurns(path_, 1'000'000).begin(kNow), 0);
}

TEST_F(PublishTurnsTest, WithoutAFileTheTaskKeepsToTheRateAlone) {
  PublishTurns turns("", 1'000'000);
  EXPECT_EQ(turns.begin(kNow), 0);
  turns.end(10'000);
  EXPECT_EQ(turns.begin(kNow), 10'000'000);
}

}  // namespace
}  // namespace jaxprof::launcher
