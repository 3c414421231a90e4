// Whose page is this? Environments as Slurm 22.05, Open MPI 4.1 and MPICH 4.0 were seen to leave them.
#include "agent/contract/stranger.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

namespace jaxprof {
namespace {

using Variables = std::vector<std::string>;

class Stranger : public testing::Test {
 protected:
  // The plan of a wrapper with this environment on boot "boot-1".
  void wrap(const Variables& variables) {
    plan_ = SessionPlan();
    with_env(variables, [this](const Env& env) {
      set_task_rank(&plan_, env, 100);
      plan_.slurm = slurm_place(env);
    });
    std::snprintf(plan_.boot_id, sizeof plan_.boot_id, "boot-1");
  }
  bool is_strange(const Variables& variables, const char* boot_id = "boot-1") const {
    bool result = false;
    with_env(variables, [&](const Env& env) { result = is_stranger(plan_, boot_id, env); });
    return result;
  }

 private:
  template <typename Use>
  static void with_env(const Variables& variables, Use use) {
    std::vector<const char*> entries;
    for (const std::string& variable : variables) entries.push_back(variable.c_str());
    entries.push_back(nullptr);
    use(Env(entries.data()));
  }

  SessionPlan plan_;
};

const Variables kTask = {"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_TASK_PID=100", "SLURM_PROCID=1",
                         "SLURM_STEP_NUM_TASKS=4"};
const Variables kBatchScript = {"SLURM_JOB_ID=5", "SLURM_TASK_PID=90", "SLURM_PROCID=0", "SLURM_NTASKS=4"};

Variables operator+(Variables variables, const Variables& more) {
  variables.insert(variables.end(), more.begin(), more.end());
  return variables;
}

TEST_F(Stranger, IsNoneWithTheWrappersOwnEnvironment) {
  for (const Variables& variables : {kTask, kBatchScript, Variables{}}) {
    wrap(variables);
    EXPECT_FALSE(is_strange(variables));
  }
}

TEST_F(Stranger, IsWhoRunsOnAnotherBoot) {
  wrap(kTask);
  EXPECT_TRUE(is_strange(kTask, "boot-2"));
  EXPECT_FALSE(is_strange(kTask, "")) << "what cannot be read proves nothing";
}

TEST_F(Stranger, IsATaskOfAnInnerSrun) {
  wrap(kTask);
  EXPECT_TRUE(is_strange(
      {"SLURM_JOB_ID=5", "SLURM_STEP_ID=1", "SLURM_TASK_PID=200", "SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=1"}));
  wrap(kBatchScript);
  EXPECT_TRUE(is_strange(kTask)) << "a batch script has no step, the tasks of its srun have";
  wrap({});
  EXPECT_TRUE(is_strange(kTask)) << "started from a node that runs jobs as well";
}

TEST_F(Stranger, IsAnInnerSbatch) {
  wrap(kTask);
  EXPECT_TRUE(is_strange({"SLURM_JOB_ID=6", "SLURM_TASK_PID=300", "SLURM_PROCID=0", "SLURM_NTASKS=1"}));
}

TEST_F(Stranger, IsARestartOfTheJob) {
  wrap(kBatchScript);
  EXPECT_TRUE(is_strange(kBatchScript + Variables{"SLURM_RESTART_COUNT=1"}));
  EXPECT_FALSE(is_strange(kBatchScript + Variables{"SLURM_RESTART_COUNT=0"}));
  wrap(kBatchScript + Variables{"SLURM_RESTART_COUNT=1"});
  EXPECT_FALSE(is_strange(kBatchScript + Variables{"SLURM_RESTART_COUNT=1"}));
  EXPECT_TRUE(is_strange(kBatchScript + Variables{"SLURM_RESTART_COUNT=2"}));
}

TEST_F(Stranger, IsNotARankOfMpiInsideTheCommand) {
  const Variables open_mpi = {"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2"};
  const Variables hydra = {"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1"};
  wrap(kTask);
  EXPECT_FALSE(is_strange(kTask + open_mpi));
  EXPECT_FALSE(is_strange(kTask + hydra));
  wrap(kBatchScript);
  EXPECT_FALSE(is_strange(kBatchScript + open_mpi));
  EXPECT_FALSE(is_strange(kTask + hydra)) << "hydra starts its daemons by srun";
}

TEST_F(Stranger, IsATaskOfSrunInsideARankOfMpi) {
  const Variables hydra = {"PMI_RANK=1", "PMI_SIZE=2", "MPI_LOCALRANKID=1"};
  wrap(kBatchScript + hydra);
  EXPECT_TRUE(is_strange(kTask + hydra)) << "MPI's variables are inherited, the step is new";
}

TEST_F(Stranger, IsNotWhoSetsSlurmsVariablesByHand) {
  wrap({});
  EXPECT_FALSE(is_strange({"SLURM_JOB_ID=1", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_NTASKS=1"}));
}

TEST_F(Stranger, IsNotWhoClearedTheEnvironment) {
  wrap(kTask);
  EXPECT_FALSE(is_strange({}));
}

}  // namespace
}  // namespace jaxprof
