#include "agent/contract/unknown_rank.h"

#include <gtest/gtest.h>

#include <vector>

#include "agent/contract/rank_identity.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

std::string described(const std::vector<std::string>& entries) {
  const test::Environment environment(entries);
  EXPECT_FALSE(resolve_rank(environment.env(), 500).is_known());
  return describe_unknown_rank(environment.env());
}

TEST(DescribeUnknownRank, IsSilentWhereNobodyButAPersonStartedTheProcess) {
  EXPECT_EQ(described({}), "");
  EXPECT_EQ(described({"HOME=/root", "KUBERNETES_SERVICE_HOST=10.0.0.1"}), "");
}

TEST(DescribeUnknownRank, NamesABatchScriptOfManyTasks) {
  EXPECT_EQ(described({"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=4"}),
            "the process was started inside Slurm job 5 and not by srun (no SLURM_STEP_ID is set)");
  EXPECT_NE(described({"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_JOB_NUM_NODES=2"}), "");
  EXPECT_EQ(described({"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_NTASKS=1", "SLURM_JOB_NUM_NODES=1"}), "");
}

TEST(DescribeUnknownRank, NamesJobsOfPbsAndLsf) {
  EXPECT_EQ(described({"PBS_JOBID=12.server"}),
            "PBS job 12.server has started the process, and no launcher that numbers ranks");
  EXPECT_EQ(described({"LSB_JOBID=12", "LSB_DJOB_NUMPROC=4"}),
            "LSF job 12 has started the process, and no launcher that numbers ranks");
  EXPECT_EQ(described({"LSB_JOBID=12", "LSB_DJOB_NUMPROC=1"}), "");
}

TEST(DescribeUnknownRank, NamesNumbersThatDoNotFit) {
  EXPECT_EQ(described({"RANK=4", "WORLD_SIZE=4"}), "RANK=4 is no number below WORLD_SIZE=4");
  EXPECT_EQ(described({"RANK=4"}), "RANK=4 is set without WORLD_SIZE");
  EXPECT_EQ(described({"PMIX_RANK=x"}), "PMIX_RANK=x is no number");
}

TEST(DescribeUnknownRank, NamesWhatAJobSetLacks) {
  EXPECT_EQ(described({"JOB_COMPLETION_INDEX=1", "JAXPROF_JOB_INDEX=2"}),
            "JOB_COMPLETION_INDEX=1 and JAXPROF_JOB_INDEX need JAXPROF_PODS_PER_JOB, a number above the first");
}

}  // namespace
}  // namespace jaxprof
