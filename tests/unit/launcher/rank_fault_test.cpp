#include "launcher/rank_fault.h"

#include <gtest/gtest.h>

#include "launcher/rank_from.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

using Variables = std::vector<std::string>;

// What is wrong for a process with this environment and --rank-from `names`, "" for none.
std::string fault(const Variables& entries, const std::string& names = "", bool has_inner_ranks = false) {
  Options options;
  options.has_inner_ranks = has_inner_ranks;
  if (!names.empty()) options.rank_variables = parse_rank_from(names).value();
  const test::Environment environment(entries);
  return find_rank_fault(options, resolve_rank(environment.env(), 500, options.rank_variables), environment.env());
}

const Variables kTask = {"SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"};

Variables operator+(Variables variables, const Variables& more) {
  variables.insert(variables.end(), more.begin(), more.end());
  return variables;
}

TEST(FindRankFault, IsNoneOfARankOrOfASingleProcess) {
  EXPECT_EQ(fault(kTask), "");
  EXPECT_EQ(fault({}), "");
  EXPECT_EQ(fault({"R=1", "S=2", "L=0"}, "R,L,S"), "");
}

TEST(FindRankFault, NamesTheVariableThatIsNoRank) {
  EXPECT_EQ(fault(kTask, "R"),
            "--rank-from names R, which is not set: no rank, a whole number below the size; it is ignored, the rank is "
            "that of Slurm");
  EXPECT_EQ(fault({"R=x"}, "R"),
            "--rank-from names R=x: no rank, a whole number below the size; it is ignored, the rank is not known");
  EXPECT_EQ(fault(kTask + Variables{"R=2", "S=2"}, "R,,S"),
            "--rank-from names R=2: no rank, a whole number below the size; it is ignored, the rank is that of Slurm");
}

TEST(FindRankFault, NamesTheSizeAndTheLocalRankThatAreNone) {
  EXPECT_EQ(fault({"R=1", "S=many"}, "R,,S"),
            "--rank-from names S=many: no size, a whole number; it is ignored, the rank is not known");
  EXPECT_EQ(fault({"R=1"}, "R,L"),
            "--rank-from names L, which is not set: no local rank, a whole number; it is not known");
}

TEST(FindRankFault, NamesAnExplicitRankThatIsNone) {
  EXPECT_EQ(fault(kTask + Variables{"JAXPROF_RANK=7", "JAXPROF_WORLD_SIZE=4"}),
            "JAXPROF_RANK=7 of JAXPROF_WORLD_SIZE=4 is not a rank, a whole number below the size: it is ignored, the "
            "rank is that of Slurm");
}

TEST(FindRankFault, NamesTheBatchScriptWithoutAStep) {
  const Variables script = {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=4"};
  EXPECT_EQ(fault(script),
            "the rank is not known: the process was started inside Slurm job 5 and not by srun (no SLURM_STEP_ID is "
            "set); start "
            "ranks by srun or mpirun, or name the variable that numbers them by --rank-from");
  EXPECT_EQ(fault(script + Variables{"R=0"}, "R"), "");
}

// They are set by the launcher inside the command.
TEST(FindRankFault, IsNoneOfAWrapperBeforeALauncher) {
  EXPECT_EQ(fault({"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=4"}, "", true), "");
  EXPECT_EQ(fault(kTask, "R,L,S", true), "");
}

}  // namespace
}  // namespace jaxprof::launcher
