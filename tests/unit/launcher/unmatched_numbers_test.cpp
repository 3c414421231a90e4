#include "launcher/unmatched_numbers.h"

#include <gtest/gtest.h>

#include "launcher/launch_plan.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

// 8 tasks on 3 nodes: 4, 2 and 2.
std::string unmatched(std::vector<std::string> arguments, const char* world_size = "8") {
  const test::Environment slurm{"SLURM_JOB_ID=5",
                                "SLURM_STEP_ID=0",
                                "SLURM_PROCID=0",
                                "SLURM_LOCALID=0",
                                "SLURM_NODEID=0",
                                "SLURM_TASK_PID=500",
                                "SLURM_STEP_TASKS_PER_NODE=4,2(x2)",
                                std::string("SLURM_STEP_NUM_TASKS=") + world_size};
  arguments.push_back("c");
  const auto options = parse_options(arguments, nullptr);
  EXPECT_TRUE(options) << options.error().message;
  return make_launch_plan(*options, {"n1", "boot", 500, 0}, slurm.env()).unmatched_numbers;
}

TEST(UnmatchedNumbers, NamesWhatTheJobDoesNotHave) {
  EXPECT_EQ(unmatched({"--ranks", "0,8"}), "--ranks names 8, the job has 0 to 7");
  EXPECT_EQ(unmatched({"--ranks", "0,8"}, "1"), "--ranks names 8, the job has 0 alone");
  EXPECT_EQ(unmatched({"--local-ranks", "4"}), "--local-ranks names 4, the job has 0 to 3");
  EXPECT_EQ(unmatched({"--nodes", "0-9:3"}), "--nodes names 9, the job has 0 to 2");
  EXPECT_EQ(unmatched({"--ranks", "0-99", "--nodes", "7,3"}),
            "--ranks names 99, the job has 0 to 7; --nodes names 7, the job has 0 to 2");
}

TEST(UnmatchedNumbers, SaysNothingOfWhatIsThere) {
  EXPECT_EQ(unmatched({}), "");
  EXPECT_EQ(unmatched({"--ranks", "0-9:7"}), "") << "0 and 7";
  EXPECT_EQ(unmatched({"--ranks", "7", "--local-ranks", "3", "--nodes", "2"}), "");
}

TEST(UnmatchedNumbers, SaysNothingOfWhatIsNotKnown) {
  const auto options = parse_options({"--ranks", "99", "--local-ranks", "9", "--nodes", "9", "c"}, nullptr);
  ASSERT_TRUE(options);
  const test::Environment nothing{};
  EXPECT_EQ(describe_unmatched_numbers(*options, RankIdentity(), nothing.env()), "");
  RankIdentity sized;
  sized.rank = 0;
  sized.world_size = 2;
  sized.launcher = Launcher::kOpenMpi;
  EXPECT_EQ(describe_unmatched_numbers(*options, sized, nothing.env()), "--ranks names 99, the job has 0 to 1");
}

TEST(UnmatchedNumbers, RanksThatTheCommandStartsKnowTheirOwnNumbers) {
  EXPECT_EQ(unmatched({"--inner-ranks", "--ranks", "99", "--local-ranks", "9"}), "");
  EXPECT_EQ(unmatched({"--inner-ranks", "--nodes", "9"}), "--nodes names 9, the job has 0 to 2");
}

}  // namespace
}  // namespace jaxprof::launcher
