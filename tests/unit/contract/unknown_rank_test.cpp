#include "agent/contract/unknown_rank.h"

#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "agent/contract/rank_identity.h"
#include "tests/unit/base/temp_folder.h"
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

TEST(DescribeUnknownRank, IsSilentInAPbsJobOfOneProcess) {
  EXPECT_EQ(described({"PBS_JOBID=12.server", "PBS_NP=1"}), "");
  EXPECT_NE(described({"PBS_JOBID=12.server", "PBS_NP=2"}), "");
  const test::TempFolder folder;
  const std::string path = folder.file("nodes");
  const std::vector<std::string> job = {"PBS_JOBID=12.server", "NCPUS=1", "PBS_NODEFILE=" + path};
  EXPECT_NE(described(job), "") << "no file";
  std::ofstream(path) << "n1\n";
  EXPECT_EQ(described(job), "");
  std::ofstream(path) << "n1\nn1\n";
  EXPECT_NE(described(job), "") << "two processes";
  EXPECT_NE(described({"PBS_JOBID=12.server", "PBS_NODEFILE=" + folder.path()}), "") << "a folder";
}

TEST(DescribeUnknownRank, NamesNumbersThatDoNotFit) {
  EXPECT_EQ(described({"RANK=4", "WORLD_SIZE=4"}), "RANK=4 is no number below WORLD_SIZE=4");
  EXPECT_EQ(described({"SLURM_STEP_ID=0", "SLURM_PROCID=5", "SLURM_NTASKS=4"}),
            "SLURM_PROCID=5 is no number below SLURM_NTASKS=4");
  EXPECT_EQ(described({"SLURM_STEP_ID=0", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=2", "SLURM_NTASKS=8"}),
            "SLURM_PROCID=5 is no number below SLURM_STEP_NUM_TASKS=2");
}

TEST(DescribeUnknownRank, NamesWhatANumberLacks) {
  EXPECT_EQ(described({"RANK=4"}), "RANK=4 is set without WORLD_SIZE");
  EXPECT_EQ(described({"PALS_RANKID=1", "PMI_SIZE=4"}), "PALS_RANKID=1 is set without PALS_APID");
  EXPECT_EQ(described({"OMPI_COMM_WORLD_RANK=1"}), "OMPI_COMM_WORLD_RANK=1 is set without OMPI_COMM_WORLD_SIZE");
}

TEST(DescribeUnknownRank, NamesNumbersThatAreNone) {
  EXPECT_EQ(described({"PMIX_RANK=x"}), "PMIX_RANK=x is no number");
  EXPECT_EQ(described({"RANK=x", "WORLD_SIZE=4"}), "RANK=x is no number");
  EXPECT_EQ(described({"RANK=-1", "WORLD_SIZE=x"}), "RANK=-1 is no number");
}

TEST(DescribeUnknownRank, NamesTheLauncherThatIsThereRatherThanOneThatIsNot) {
  EXPECT_EQ(described({"PALS_RANKID=1", "PMI_RANK=4", "PMI_SIZE=4"}), "PMI_RANK=4 is no number below PMI_SIZE=4");
}

TEST(DescribeUnknownRank, NamesWhatAJobSetLacks) {
  EXPECT_EQ(described({"JOB_COMPLETION_INDEX=1", "JAXPROF_JOB_INDEX=2"}),
            "JOB_COMPLETION_INDEX=1 and JAXPROF_JOB_INDEX need JAXPROF_PODS_PER_JOB, a number above the first");
}

}  // namespace
}  // namespace jaxprof
