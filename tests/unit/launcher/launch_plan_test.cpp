#include "launcher/launch_plan.h"

#include <gtest/gtest.h>

#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

const Node kNode{"n2", "boot", 500, 0};

LaunchPlan plan_for(const std::vector<std::string>& arguments, const test::Environment& environment) {
  const auto options = parse_options(arguments, nullptr);
  EXPECT_TRUE(options) << options.error().message;
  return make_launch_plan(*options, kNode, environment.env());
}

const test::Environment& rank_3_of_4() {
  static const test::Environment environment{"SLURM_JOB_ID=5",         "SLURM_STEP_ID=0", "SLURM_PROCID=3",
                                             "SLURM_STEP_NUM_TASKS=4", "SLURM_LOCALID=1", "SLURM_NODEID=1",
                                             "SLURM_TASK_PID=500"};
  return environment;
}

TEST(LaunchPlan, NamesEverythingOfARank) {
  const LaunchPlan plan = plan_for({"python", "x.py"}, rank_3_of_4());
  EXPECT_TRUE(plan.is_wrapped);
  EXPECT_EQ(plan.task, "rank3");
  EXPECT_EQ(plan.directory, "jaxprof.5.0");
  EXPECT_EQ(plan.state_directory, "jaxprof.5.0/.run-5.0.0");
  EXPECT_EQ(plan.stem, "rank3");
  EXPECT_EQ(plan.stem_template, "rank%r");
  EXPECT_FALSE(plan.is_speaker());
  EXPECT_EQ(plan.fault, "");
}

TEST(LaunchPlan, TheDirectoryMayBeAbsentOrRoot) {
  EXPECT_EQ(plan_for({"-o", "rank%r", "c"}, rank_3_of_4()).directory, ".");
  EXPECT_EQ(plan_for({"-o", "/rank%r", "c"}, rank_3_of_4()).directory, "/");
  EXPECT_EQ(plan_for({"-o", "a//rank%r", "c"}, rank_3_of_4()).directory, "a");
}

TEST(LaunchPlan, AnUnselectedRankIsNotWrapped) {
  EXPECT_FALSE(plan_for({"--ranks", "0", "c"}, rank_3_of_4()).is_wrapped);
  EXPECT_FALSE(plan_for({"--if", "SLURM_LOCALID==0", "c"}, rank_3_of_4()).is_wrapped);
  EXPECT_TRUE(plan_for({"--ranks", "3", "--nodes", "1", "c"}, rank_3_of_4()).is_wrapped);
}

TEST(LaunchPlan, WhatTheWrapperDecidedIsNotLeftToProcesses) {
  EXPECT_TRUE(plan_for({"--ranks", "3", "c"}, rank_3_of_4()).is_task_taken);
  EXPECT_TRUE(plan_for({"--nodes", "1", "c"}, rank_3_of_4()).residual.selects_all());
}

TEST(LaunchPlan, RanksThatTurnUpBehindAScriptAreLeftTheSelection) {
  EXPECT_STREQ(plan_for({"--ranks", "3", "bash", "launch.sh"}, rank_3_of_4()).residual.ranks, "3");
  EXPECT_FALSE(plan_for({"--ranks", "3", "torchrun", "x.py"}, rank_3_of_4()).is_task_taken);
}

TEST(LaunchPlan, WhatTheWrapperCannotDecideIs) {
  const LaunchPlan plan = plan_for({"--ranks", "3", "--if", "NOT_SET==1", "c"}, rank_3_of_4());
  EXPECT_TRUE(plan.is_wrapped);
  EXPECT_EQ(plan.undecided, "NOT_SET, which is not known here");
  EXPECT_STREQ(plan.residual.condition, "NOT_SET==1");
  EXPECT_FALSE(plan.is_task_taken);
}

TEST(LaunchPlan, BehindALauncherRanksDecideAndNodesAreDecided) {
  const LaunchPlan plan =
      plan_for({"--ranks", "30", "--local-ranks", "0", "--nodes", "1", "--if", "SLURM_NODEID==1", "torchrun", "x.py"},
               rank_3_of_4());
  EXPECT_TRUE(plan.is_wrapped);
  EXPECT_STREQ(plan.residual.ranks, "30");
  EXPECT_STREQ(plan.residual.local_ranks, "0");
  EXPECT_STREQ(plan.residual.nodes, "");
  EXPECT_STREQ(plan.residual.condition, "");
  EXPECT_EQ(plan.stem, "") << "the workers' names are not the wrapper's to claim";
  EXPECT_FALSE(plan_for({"--nodes", "0", "torchrun", "x.py"}, rank_3_of_4()).is_wrapped);
  EXPECT_STREQ(plan_for({"--if", "rank==9", "torchrun", "x.py"}, rank_3_of_4()).residual.condition, "rank==9");
}

TEST(LaunchPlan, ANameWithThePidIsTheProcessOwn) {
  EXPECT_EQ(plan_for({"-o", "d/%r.%p", "c"}, rank_3_of_4()).stem, "");
  const test::Environment nothing{};
  const LaunchPlan plan = plan_for({"c"}, nothing);
  EXPECT_EQ(plan.stem, "") << "an unknown rank is host and pid";
  EXPECT_EQ(plan.task, "n2.500");
  EXPECT_TRUE(plan.is_speaker());
}

TEST(LaunchPlan, ReportsARankByHandThatIsNone) {
  const test::Environment word{"JAXPROF_RANK=x"};
  EXPECT_EQ(plan_for({"c"}, word).rank_fault,
            "JAXPROF_RANK=x is not a rank, a whole number below the size: it is ignored, the rank is not known");
  const test::Environment high{"JAXPROF_RANK=4", "JAXPROF_WORLD_SIZE=4", "RANK=1", "WORLD_SIZE=2"};
  EXPECT_EQ(plan_for({"c"}, high).rank_fault,
            "JAXPROF_RANK=4 of JAXPROF_WORLD_SIZE=4 is not a rank, a whole number below the size: it is ignored, the "
            "rank is that of RANK and WORLD_SIZE");
  const test::Environment good{"JAXPROF_RANK=3", "JAXPROF_WORLD_SIZE=4"};
  EXPECT_EQ(plan_for({"c"}, good).rank_fault, "");
  EXPECT_EQ(plan_for({"c"}, rank_3_of_4()).rank_fault, "");
}

TEST(LaunchPlan, ReportsAnUnsetVariable) {
  const LaunchPlan plan = plan_for({"-o", "%q{DIR}/r%r.%q{NAME}", "c"}, rank_3_of_4());
  EXPECT_EQ(plan.directory, "unset-DIR");
  EXPECT_EQ(plan.stem, "r3.unset-NAME");
  EXPECT_EQ(plan.unset_variable, "DIR");
}

TEST(LaunchPlan, ANameThatIsNoneIsTheRanks) {
  const LaunchPlan plan = plan_for({"-o", "d/%q{NO:-.}", "c"}, rank_3_of_4());
  EXPECT_EQ(plan.stem, "rank3");
  EXPECT_TRUE(plan.is_nameless);
  EXPECT_FALSE(plan_for({"-o", "d/%r", "c"}, rank_3_of_4()).is_nameless);
}

TEST(LaunchPlan, ANameThatIsTooLongIsAFaultOfTheRank) {
  const std::string value = "LONG=" + std::string(400, 'x');
  const test::Environment environment{value, "RANK=0", "WORLD_SIZE=2"};
  EXPECT_NE(plan_for({"-o", "d/%q{LONG}", "c"}, environment).fault, "");
}

}  // namespace
}  // namespace jaxprof::launcher
