#include "agent/contract/run_identity.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/base/text.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

using Variables = std::vector<std::string>;

constexpr pid_t kPid = 500;

RunIdentity run_of(const Variables& entries, const char* host = "n1", const char* mpiexec = "") {
  const test::Environment environment(entries);
  const RankIdentity rank = resolve_rank(environment.env(), kPid);
  return resolve_run(environment.env(), rank, {host, kPid, 7700, mpiexec});
}

std::string run_id(const Variables& entries, const char* host = "n1", const char* mpiexec = "") {
  return run_of(entries, host, mpiexec).run_id;
}

Variables operator+(Variables variables, const Variables& more) {
  variables.insert(variables.end(), more.begin(), more.end());
  return variables;
}

TEST(ResolveRun, IsJobStepAndRestart) {
  const Variables step = {"SLURM_JOB_ID=81723", "SLURM_STEP_ID=4", "SLURM_PROCID=0", "SLURM_NTASKS=2"};
  EXPECT_EQ(run_id(step), "81723.4.0");
  EXPECT_EQ(run_id(step + Variables{"SLURM_RESTART_COUNT=2"}), "81723.4.2");
}

TEST(ResolveRun, IsTheSameOnAllRanksOfMpirun) {
  const Variables first = {"SLURM_JOB_ID=5", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=1234"};
  Variables third = first;
  third[1] = "OMPI_COMM_WORLD_RANK=2";
  third.push_back("SLURM_STEP_ID=0");
  EXPECT_EQ(run_id(first), "5.1234.0");
  EXPECT_EQ(run_id(third), "5.1234.0");
}

// mpirun by ssh: what the batch system gave to the node of mpirun is not there on the others.
TEST(ResolveRun, OfMpirunHasNoJobThatOnlySomeRanksSee) {
  const Variables there = {"OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4", "PMIX_NAMESPACE=1234"};
  for (const char* batch : {"PBS_JOBID=12.server", "LSB_JOBID=12"}) {
    EXPECT_EQ(run_id(there + Variables{batch}), run_id(there)) << batch;
  }
}

const Variables kHydraRank = {"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1"};

TEST(ResolveRun, OfHydraIsNamedAfterItsMpiexec) {
  EXPECT_EQ(run_id(kHydraRank, "n1", "45911@n1"), "local.45911@n1.0");
  EXPECT_EQ(run_id(kHydraRank, "n2", "45911@n1"), "local.45911@n1.0");
  EXPECT_EQ(run_id(kHydraRank + Variables{"SLURM_JOB_ID=1", "SLURM_STEP_ID=0"}, "n1", "45911@n1"), "1.45911@n1.0");
}

TEST(ResolveRun, OfHydraWithoutAnMpiexecIsTheStepThatItsProxiesAreIn) {
  EXPECT_EQ(run_id(kHydraRank + Variables{"SLURM_JOB_ID=1", "SLURM_STEP_ID=3"}), "1.3.0");
  EXPECT_EQ(run_id(kHydraRank), "local.mpiexec.0");
}

TEST(ResolveRun, OfMvapichIsMpirunRshsOwnNumber) {
  EXPECT_EQ(run_id({"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=4", "MPIRUN_ID=8812"}), "local.8812.0");
  EXPECT_EQ(run_id({"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=4"}, "n1", "45911@n1"), "local.45911@n1.0");
}

TEST(ResolveRun, OnlyHydrasRanksAskForAnMpiexec) {
  EXPECT_TRUE(needs_mpiexec(Launcher::kHydra));
  EXPECT_TRUE(needs_mpiexec(Launcher::kMvapich));
  EXPECT_TRUE(needs_mpiexec(Launcher::kPmi));
  EXPECT_FALSE(needs_mpiexec(Launcher::kSlurm));
  EXPECT_FALSE(needs_mpiexec(Launcher::kUnknown));
}

TEST(ResolveRun, OfPlainVariablesIsTheirMaster) {
  const Variables rank = {"RANK=1", "WORLD_SIZE=4"};
  EXPECT_EQ(run_id(rank + Variables{"MASTER_ADDR=n1", "MASTER_PORT=29500"}), "local.29500@n1.0");
  EXPECT_EQ(run_id(rank + Variables{"MASTER_PORT=29500"}), "local.29500@.0");
  EXPECT_EQ(run_id(rank), "local.ranks.0");
  const std::string cut = run_id(rank + Variables{"MASTER_ADDR=" + std::string(100, 'n'), "MASTER_PORT=29500"});
  EXPECT_TRUE(cut.starts_with("local.29500@nnn")) << cut;
  EXPECT_TRUE(cut.ends_with(".0")) << cut;
  EXPECT_NE(run_id(rank + Variables{"MASTER_ADDR=" + std::string(100, 'n') + "2", "MASTER_PORT=29500"}), cut);
}

const Variables kWorker = {"TORCHELASTIC_RUN_ID=none", "RANK=1", "WORLD_SIZE=4"};

TEST(ResolveRun, OfTorchrunIsItsIdUnlessNoneWasGiven) {
  EXPECT_EQ(run_id(kWorker), "local.torchrun.0");
  EXPECT_EQ(run_id(kWorker + Variables{"MASTER_ADDR=n1", "MASTER_PORT=4242"}), "local.4242@n1.0");
  Variables named = kWorker;
  named[0] = "TORCHELASTIC_RUN_ID=night";
  EXPECT_EQ(run_id(named), "local.night.0");
  EXPECT_EQ(run_id(named + Variables{"MASTER_ADDR=n1", "MASTER_PORT=4242"}), "local.night.4242@n1.0");
}

// Two torchruns one after the other in one job, on a fixed port.
TEST(ResolveRun, OfTorchrunHasTheStepIfAllOfItIsInOne) {
  const Variables in_step = kWorker + Variables{"SLURM_JOB_ID=5", "SLURM_STEP_ID=3", "GROUP_WORLD_SIZE=2",
                                                "MASTER_ADDR=n1", "MASTER_PORT=29500"};
  EXPECT_EQ(run_id(in_step + Variables{"SLURM_STEP_NUM_TASKS=2"}), "5.3.29500@n1.0");
  EXPECT_EQ(run_id(in_step + Variables{"SLURM_STEP_NUM_TASKS=1"}), "5.29500@n1.0");
}

TEST(ResolveRun, OfTorchrunTellsStepsApartBehindALongIdAndAddress) {
  const Variables worker = {"TORCHELASTIC_RUN_ID=3f2b8c1e-55d0-4a86-9a7d-0c1f6be2a934",
                            "RANK=1",
                            "WORLD_SIZE=4",
                            "GROUP_WORLD_SIZE=2",
                            "SLURM_STEP_NUM_TASKS=2",
                            "SLURM_JOB_ID=5",
                            "MASTER_PORT=29500",
                            "MASTER_ADDR=ip-10-213-77-104.eu-central-1.compute.internal"};
  const std::string third = run_id(worker + Variables{"SLURM_STEP_ID=3"});
  EXPECT_TRUE(third.starts_with("5.3.3f2b8c1e-55d0-4a86-9a7d-0c1f6be2a934.29500")) << third;
  EXPECT_EQ(run_id(worker + Variables{"SLURM_STEP_ID=3"}), third);
  EXPECT_NE(run_id(worker + Variables{"SLURM_STEP_ID=4"}), third);
}

// PRRTE's namespaces are `prterun-HOST-PID@NUMBER`.
TEST(ResolveRun, OfMpirunTellsNamespacesApartBehindALongHost) {
  const auto of_pid = [](const std::string& pid) {
    return run_id({"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=4",
                   "PMIX_NAMESPACE=prterun-" + std::string(60, 'h') + "-" + pid + "@1"});
  };
  EXPECT_EQ(of_pid("4711"), of_pid("4711"));
  EXPECT_NE(of_pid("4711"), of_pid("4712"));
}

TEST(ResolveRun, OfTorchrunCountsItsRestartsWhereOneAgentDoes) {
  const Variables again = kWorker + Variables{"TORCHELASTIC_RESTART_COUNT=1"};
  EXPECT_EQ(run_id(again + Variables{"GROUP_WORLD_SIZE=1"}), "local.torchrun.1");
  EXPECT_EQ(run_id(again + Variables{"GROUP_WORLD_SIZE=1", "SLURM_JOB_ID=5", "SLURM_RESTART_COUNT=2"}), "5.torchrun.3");
  EXPECT_EQ(run_id(again + Variables{"GROUP_WORLD_SIZE=2"}), "local.torchrun.0");
}

TEST(ResolveRun, OfBatchSystemsHasTheirJob) {
  EXPECT_EQ(run_id({"PALS_APID=a-b", "PALS_RANKID=1", "PMI_SIZE=2", "PBS_JOBID=12.server"}), "12.server.a-b.0");
  EXPECT_EQ(run_id({"JSM_NAMESPACE_RANK=1", "JSM_NAMESPACE_SIZE=2", "LSB_JOBID=77", "PMIX_NAMESPACE=3"}), "77.3.0");
  EXPECT_EQ(run_id({"JSM_NAMESPACE_RANK=1", "JSM_NAMESPACE_SIZE=2", "LSB_JOBID=77", "PMIX_NAMESPACE=3",
                    "OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"}),
            "77.3.0");
  const Variables flux = {"FLUX_TASK_RANK=1", "FLUX_JOB_SIZE=2", "FLUX_JOB_ID=f3x"};
  EXPECT_EQ(run_id(flux), "f3x.0.0");
  EXPECT_EQ(run_id(flux + Variables{"SLURM_JOB_ID=5", "SLURM_STEP_ID=0"}), "5.f3x.0");
  EXPECT_EQ(run_id({"ALPS_APP_PE=1", "ALPS_APP_ID=90"}), "local.90.0");
}

TEST(ResolveRun, OfPodsIsWhatTheirNamesShare) {
  EXPECT_EQ(run_id({"JOB_COMPLETION_INDEX=2"}, "train-2"), "local.train.0");
  EXPECT_EQ(run_id({"JOB_COMPLETION_INDEX=0"}, "train-v2-0"), "local.train-v2.0");
  EXPECT_EQ(run_id({"JOB_COMPLETION_INDEX=2"}, "gke-node"), "local.kubernetes.0");
  const Variables jobset = {"JOB_COMPLETION_INDEX=1", "JAXPROF_JOB_INDEX=3", "JAXPROF_PODS_PER_JOB=2"};
  EXPECT_EQ(run_id(jobset, "llm-workers-3-1"), "local.llm-workers.0");
  EXPECT_EQ(run_id(jobset + Variables{"JAXPROF_RUN=6f0c"}, "llm-workers-3-1"), "local.6f0c.0");
}

TEST(ResolveRun, WithoutALauncherEveryProcessIsARun) {
  EXPECT_EQ(run_id({}), "local.n1-500-7700.0");
  EXPECT_EQ(run_id({"SLURM_JOB_ID=5"}), "5.n1-500-7700.0");
  EXPECT_EQ(run_id({"PBS_JOBID=12.server"}), "12.server.n1-500-7700.0");
  EXPECT_EQ(run_id({"LSB_JOBID=12"}), "12.n1-500-7700.0");
}

TEST(ResolveRun, WithoutALauncherIsTheProcesssOwnOnALongHostToo) {
  const std::string host(64, 'h');
  const RunIdentity first = resolve_run(Env(), RankIdentity(), {host.c_str(), 500, 7700, ""});
  EXPECT_STRNE(resolve_run(Env(), RankIdentity(), {host.c_str(), 501, 7700, ""}).run_id, first.run_id);
  EXPECT_STRNE(resolve_run(Env(), RankIdentity(), {host.c_str(), 500, 7701, ""}).run_id, first.run_id);
}

TEST(ResolveRun, IsTheLaunchersWhoeverNumbersTheRanks) {
  const Variables step = {"SLURM_JOB_ID=5", "SLURM_STEP_ID=2", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2"};
  EXPECT_EQ(run_id(step + Variables{"JAXPROF_RANK=1"}), run_id(step));
  EXPECT_EQ(run_id(kHydraRank + Variables{"JAXPROF_RANK=0"}, "n1", "45911@n1"), "local.45911@n1.0");
  EXPECT_EQ(run_id({"JAXPROF_RANK=1"}), "local.ranks.0");
  const test::Environment environment(step + Variables{"MY_RANK=1"});
  RankVariables named;
  TextBuffer(named.rank, sizeof named.rank).append("MY_RANK");
  const RankIdentity rank = resolve_rank(environment.env(), kPid, named);
  EXPECT_STREQ(resolve_run(environment.env(), rank, {"n1", kPid, 7700, ""}).run_id, "5.2.0");
}

TEST(ResolveRun, IsSafeAsAFileName) {
  EXPECT_EQ(run_id({"JAXPROF_RUN=a/b c"}), "local.a_b_c.0");
  const std::string cut = run_id({"SLURM_JOB_ID=" + std::string(500, '7'), "JAXPROF_RUN=" + std::string(500, '8')});
  EXPECT_EQ(cut.size(), 2 * (kJobIdBytes - 1) + 3);
  EXPECT_TRUE(cut.ends_with(".0")) << cut;
}

}  // namespace
}  // namespace jaxprof
