// The deadline against a clock of the test's own and a program in scontrol's place, which counts how often it is asked.
#include "launcher/deadline.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "agent/base/atomic_file.h"
#include "tests/unit/base/temp_folder.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

constexpr std::int64_t kStartS = 1'795'984'219;
constexpr std::int64_t kSecond = 1'000'000'000;

class DeadlineTest : public testing::Test {
 protected:
  DeadlineTest() {
    settings_.margin_ns = 60 * kSecond;
    settings_.job_id = "17";
    settings_.node_directory = folder_.path();
    settings_.program = folder_.file("scontrol");
    answer_with("Unknown");
  }
  ~DeadlineTest() override {
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
  }

  // From now on the program says this, and notes how it was called.
  void answer_with(const std::string& end) {
    const std::string path = folder_.file("scontrol.new");
    std::ofstream(path) << "#!/bin/sh\necho \"$SLURM_TIME_FORMAT $*\" >>" << folder_.file("asked")
                        << "\necho 'JobId=17 StartTime=1 EndTime=" << end << " Deadline=N/A'\n";
    chmod(path.c_str(), 0700);
    std::filesystem::rename(path, settings_.program);
  }
  std::string asked() const { return read_small_file(folder_.file("asked")).value_or(""); }
  static std::int64_t at(std::int64_t second) { return (kStartS + second) * kSecond; }

  // Polls at that second until all of `deadlines` know an answer with this number; the program takes real time.
  bool learns(std::initializer_list<Deadline*> deadlines, std::int64_t second, const std::string& number) {
    const auto is_answered = [&] {
      return read_small_file(folder_.file("deadline")).value_or("").starts_with(number + " ");
    };
    for (int i = 0; i < 2000; ++i) {
      const bool is_done = is_answered();
      for (Deadline* deadline : deadlines) deadline->poll(at(second));
      if (is_done) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
  }

  test::TempFolder folder_;
  DeadlineSettings settings_;
};

TEST_F(DeadlineTest, StopsAMarginBeforeTheEndThatTheEnvironmentTells) {
  settings_.job_id = "";
  settings_.end_s = kStartS + 600;
  Deadline deadline(settings_);
  EXPECT_FALSE(deadline.poll(at(0)));
  EXPECT_FALSE(deadline.poll(at(539)));
  EXPECT_TRUE(deadline.poll(at(540)));
  EXPECT_EQ(deadline.end_s(), kStartS + 600);
  EXPECT_EQ(deadline.margin_ns(), 60 * kSecond);
}

TEST_F(DeadlineTest, OfAShortJobKeepsHalfOfItsTime) {
  settings_.job_id = "";
  settings_.end_s = kStartS + 40;
  Deadline deadline(settings_);
  EXPECT_FALSE(deadline.poll(at(0)));
  EXPECT_EQ(deadline.margin_ns(), 20 * kSecond);
  EXPECT_FALSE(deadline.poll(at(19)));
  EXPECT_TRUE(deadline.poll(at(20)));
}

TEST_F(DeadlineTest, IsNotWhereThereIsNoneOrItHasPassed) {
  settings_.job_id = "";
  Deadline none(settings_);
  settings_.end_s = kStartS - 5;
  Deadline passed(settings_);
  settings_.end_s = kStartS + 600;
  settings_.margin_ns = 0;
  Deadline off(settings_);
  for (const std::int64_t second : {0, 599, 100'000}) {
    EXPECT_FALSE(none.poll(at(second)));
    EXPECT_FALSE(passed.poll(at(second)));
    EXPECT_FALSE(off.poll(at(second)));
  }
}

TEST_F(DeadlineTest, OneOfANodesTasksAsksForAll) {
  answer_with(std::to_string(kStartS + 600));
  Deadline first(settings_), second(settings_), third(settings_);
  ASSERT_TRUE(learns({&first, &second, &third}, 1, "1"));
  for (const Deadline* deadline : {&first, &second, &third}) EXPECT_EQ(deadline->end_s(), kStartS + 600);
  EXPECT_EQ(asked(), "%s show job -o 17\n");
  EXPECT_FALSE(second.poll(at(500)));
  EXPECT_EQ(asked(), "%s show job -o 17\n");
}

TEST_F(DeadlineTest, WaitsItsDelayBeforeItAsks) {
  settings_.delay_ns = 5 * kSecond;
  Deadline deadline(settings_);
  deadline.poll(at(0));
  deadline.poll(at(4));
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(asked(), "");
  EXPECT_TRUE(learns({&deadline}, 5, "1"));
}

TEST_F(DeadlineTest, AsksOnceMoreBeforeItStops) {
  answer_with(std::to_string(kStartS + 600));
  Deadline first(settings_), second(settings_);
  ASSERT_TRUE(learns({&first, &second}, 0, "1"));
  EXPECT_FALSE(first.poll(at(500)));
  ASSERT_TRUE(learns({&second, &first}, 530, "2"));
  EXPECT_FALSE(first.poll(at(539)));
  EXPECT_TRUE(first.poll(at(540)));
  EXPECT_TRUE(second.poll(at(540)));
  EXPECT_EQ(asked(), "%s show job -o 17\n%s show job -o 17\n");
}

TEST_F(DeadlineTest, FollowsALimitThatWasExtended) {
  settings_.end_s = kStartS + 600;
  answer_with(std::to_string(kStartS + 1200));
  Deadline deadline(settings_);
  deadline.poll(at(0));
  EXPECT_EQ(asked(), "") << "the environment has told";
  ASSERT_TRUE(learns({&deadline}, 535, "1"));
  EXPECT_EQ(deadline.end_s(), kStartS + 1200);
  EXPECT_FALSE(deadline.poll(at(540)));
  ASSERT_TRUE(learns({&deadline}, 1135, "2"));
  EXPECT_TRUE(deadline.poll(at(1140)));
}

TEST_F(DeadlineTest, StopsInTimeThoughNobodyAnswers) {
  settings_.end_s = kStartS + 600;
  settings_.program = "/no/such/scontrol";
  Deadline deadline(settings_);
  deadline.poll(at(0));
  ASSERT_TRUE(learns({&deadline}, 535, "1"));
  EXPECT_FALSE(deadline.poll(at(539)));
  EXPECT_TRUE(deadline.poll(at(540)));
}

TEST_F(DeadlineTest, OfNobodyStaysUnknownAndIsAskedForOnce) {
  Deadline deadline(settings_);
  ASSERT_TRUE(learns({&deadline}, 0, "1"));
  EXPECT_FALSE(deadline.end_s());
  for (std::int64_t second = 1; second < 100'000; second += 1000) EXPECT_FALSE(deadline.poll(at(second)));
  EXPECT_EQ(asked(), "%s show job -o 17\n");
}

TEST_F(DeadlineTest, IsAskedForByAnotherIfTheAskerDied) {
  std::ofstream(folder_.file("deadline.asked.1")) << "";  // its maker is no more
  answer_with(std::to_string(kStartS + 6000));
  Deadline deadline(settings_);
  deadline.poll(at(0));
  EXPECT_FALSE(deadline.poll(at(80)));
  EXPECT_EQ(asked(), "");
  deadline.poll(at(85));
  ASSERT_TRUE(learns({&deadline}, 86, "2"));
  EXPECT_EQ(deadline.end_s(), kStartS + 6000);
}

TEST_F(DeadlineTest, IgnoresASharedAnswerThatIsNone) {
  settings_.job_id = "17";
  for (const char* text : {"", "x", "1", "1 \n", "1 99999999999999999999\n", "9 9223372036854775807\n"}) {
    std::ofstream(folder_.file("deadline")) << text;
    Deadline deadline(settings_);
    EXPECT_FALSE(deadline.poll(at(0))) << text;
    EXPECT_FALSE(deadline.end_s()) << text;
  }
}

TEST(DeadlineSettings, SpreadsTheNodesQuestions) {
  const test::Environment many({"SLURM_JOB_ID=3", "SLURM_STEP_NUM_NODES=100"});
  std::int64_t longest = 0;
  for (std::uint64_t random = 0; random < 10'000'000'000; random += 999'999'937) {
    longest = std::max(longest, deadline_settings(many.env(), kSecond, "/x", random).delay_ns);
  }
  EXPECT_GT(longest, 3 * kSecond);
  EXPECT_LT(longest, 5 * kSecond);
  const test::Environment thousands({"SLURM_JOB_ID=3", "SLURM_STEP_NUM_NODES=100000"});
  EXPECT_LT(deadline_settings(thousands.env(), kSecond, "/x", UINT64_MAX).delay_ns, 60 * kSecond);
  EXPECT_EQ(deadline_settings(test::Environment({}).env(), kSecond, "", 7).job_id, "");
}

}  // namespace
}  // namespace jaxprof::launcher
