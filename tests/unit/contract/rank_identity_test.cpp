#include "agent/contract/rank_identity.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>
#include <vector>

#include "agent/base/text.h"
#include "tests/unit/contract/environment.h"

namespace jaxprof {
namespace {

constexpr pid_t kPid = 500;

struct Case {
  const char* name;
  std::vector<std::string> environment;
  Launcher launcher;
  std::int32_t rank, world_size, local_rank, node_index;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

class RankTable : public testing::TestWithParam<Case> {};

TEST_P(RankTable, GivesTheLaunchersNumbers) {
  const Case& c = GetParam();
  const test::Environment environment(c.environment);
  const RankIdentity rank = resolve_rank(environment.env(), kPid);
  EXPECT_EQ(rank.launcher, c.launcher) << launcher_name(rank.launcher);
  EXPECT_EQ(rank.rank, c.rank);
  EXPECT_EQ(rank.world_size, c.world_size);
  EXPECT_EQ(rank.local_rank, c.local_rank);
  EXPECT_EQ(rank.node_index, c.node_index);
}

const Case kCases[] = {
    {"nothing", {}, Launcher::kUnknown, -1, -1, -1, -1},
    {"explicit_beats_all",
     {"JAXPROF_RANK=3", "JAXPROF_WORLD_SIZE=4", "JAXPROF_LOCAL_RANK=1", "SLURM_STEP_ID=0", "SLURM_PROCID=7",
      "SLURM_STEP_NUM_TASKS=8", "SLURM_TASK_PID=500"},
     Launcher::kExplicit,
     3,
     4,
     1,
     -1},
    {"torchrun_inside_srun",
     {"TORCHELASTIC_RUN_ID=x", "RANK=9", "WORLD_SIZE=16", "LOCAL_RANK=1", "GROUP_RANK=1", "SLURM_STEP_ID=0",
      "SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "SLURM_TASK_PID=400"},
     Launcher::kTorchElastic,
     9,
     16,
     1,
     1},
    // sbatch -N2 + mpirun: SLURM_PROCID is 0 on every rank, and the pid is not Slurm's task.
    {"mpirun_in_sbatch",
     {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=4", "SLURM_TASK_PID=100",
      "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1", "PMIX_RANK=3"},
     Launcher::kOpenMpi,
     3,
     4,
     1,
     -1},
    // On the second node orted's step is inherited.
    {"mpirun_in_sbatch_below_orted",
     {"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NODEID=1",
      "SLURM_STEP_NUM_TASKS=2", "SLURM_TASK_PID=100", "OMPI_COMM_WORLD_RANK=2", "OMPI_COMM_WORLD_SIZE=4",
      "OMPI_COMM_WORLD_LOCAL_RANK=0", "PMIX_RANK=2"},
     Launcher::kOpenMpi,
     2,
     4,
     0,
     -1},
    {"hydra_in_sbatch",
     {"SLURM_JOB_ID=5", "SLURM_STEP_ID=0", "SLURM_PROCID=1", "SLURM_LOCALID=0", "SLURM_STEP_NUM_TASKS=2",
      "SLURM_TASK_PID=100", "PMI_RANK=3", "PMI_SIZE=4", "PMI_FD=7", "MPI_LOCALRANKID=1", "MPI_LOCALNRANKS=2"},
     Launcher::kHydra,
     3,
     4,
     1,
     -1},
    {"hydra_by_its_control_descriptor",
     {"HYDI_CONTROL_FD=8", "PMI_RANK=1", "PMI_SIZE=2"},
     Launcher::kHydra,
     1,
     2,
     -1,
     -1},
    {"srun_itself_beats_stale_variables",
     {"SLURM_STEP_ID=2", "SLURM_TASK_PID=500", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1",
      "SLURM_NODEID=2", "RANK=0", "WORLD_SIZE=64", "OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2"},
     Launcher::kSlurm,
     5,
     8,
     1,
     2},
    {"srun_with_pmix",
     {"SLURM_STEP_ID=2", "SLURM_TASK_PID=500", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1",
      "SLURM_NODEID=2", "PMIX_RANK=5", "PMIX_NAMESPACE=slurm.pmix.5.2"},
     Launcher::kSlurm,
     5,
     8,
     1,
     2},
    {"child_of_an_srun_task",
     {"SLURM_STEP_ID=2", "SLURM_TASK_PID=499", "SLURM_PROCID=5", "SLURM_STEP_NUM_TASKS=8", "SLURM_LOCALID=1",
      "SLURM_NODEID=2"},
     Launcher::kSlurm,
     5,
     8,
     1,
     2},
    {"srun_with_the_size_in_ntasks_only",
     {"SLURM_STEP_ID=2", "SLURM_PROCID=1", "SLURM_NTASKS=2"},
     Launcher::kSlurm,
     1,
     2,
     -1,
     -1},
    {"batch_script_without_a_step",
     {"SLURM_JOB_ID=5", "SLURM_PROCID=0", "SLURM_LOCALID=0", "SLURM_NTASKS=4", "SLURM_TASK_PID=500"},
     Launcher::kUnknown,
     -1,
     -1,
     -1,
     -1},
    {"mvapich",
     {"MV2_COMM_WORLD_RANK=1", "MV2_COMM_WORLD_SIZE=4", "MV2_COMM_WORLD_LOCAL_RANK=1"},
     Launcher::kMvapich,
     1,
     4,
     1,
     -1},
    {"mvapich_plus",
     {"MVP_COMM_WORLD_RANK=1", "MVP_COMM_WORLD_SIZE=4", "MVP_COMM_WORLD_LOCAL_RANK=1"},
     Launcher::kMvapich,
     1,
     4,
     1,
     -1},
    {"pals",
     {"PALS_APID=x", "PALS_RANKID=6", "PMI_RANK=6", "PMI_SIZE=8", "PALS_LOCAL_RANKID=2", "PALS_NODEID=1"},
     Launcher::kPals,
     6,
     8,
     2,
     1},
    {"pals_by_pmi",
     {"PALS_APID=x", "PMI_RANK=6", "PMI_SIZE=8", "PMI_LOCAL_RANK=2", "PALS_NODEID=1"},
     Launcher::kPals,
     6,
     8,
     2,
     1},
    {"jsrun",
     {"JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=6", "JSM_NAMESPACE_LOCAL_RANK=0"},
     Launcher::kJsrun,
     3,
     6,
     0,
     -1},
    {"flux", {"FLUX_TASK_RANK=3", "FLUX_JOB_SIZE=6", "FLUX_TASK_LOCAL_ID=1"}, Launcher::kFlux, 3, 6, 1, -1},
    {"bare_pmi", {"PMI_RANK=3", "PMI_SIZE=6"}, Launcher::kPmi, 3, 6, -1, -1},
    {"bare_pmix_has_no_size", {"PMIX_RANK=3"}, Launcher::kPmix, 3, -1, -1, -1},
    {"alps", {"ALPS_APP_PE=3"}, Launcher::kAlps, 3, -1, -1, -1},
    {"flux_on_one_node",
     {"FLUX_TASK_RANK=3", "FLUX_JOB_SIZE=6", "FLUX_TASK_LOCAL_ID=3", "FLUX_JOB_NNODES=1"},
     Launcher::kFlux,
     3,
     6,
     3,
     0},
    {"plain_variables", {"RANK=2", "WORLD_SIZE=4", "LOCAL_RANK=0", "NODE_RANK=1"}, Launcher::kPlainEnv, 2, 4, 0, 1},
    {"a_complete_row_beats_a_lone_rank", {"PMIX_RANK=7", "RANK=2", "WORLD_SIZE=4"}, Launcher::kPlainEnv, 2, 4, -1, -1},
    {"a_rank_beyond_its_size_is_stale", {"RANK=4", "WORLD_SIZE=4"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"text_is_no_rank", {"RANK=first", "WORLD_SIZE=4"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"a_negative_rank_is_none", {"RANK=-1", "WORLD_SIZE=4"}, Launcher::kUnknown, -1, -1, -1, -1},
};

const Case kMoreCases[] = {
    // srun -n1 A : -n2 B, and the same in an sbatch of two components: numbers run on over both (Slurm 22.05).
    {"heterogeneous_step",
     {"SLURM_HET_SIZE=2", "SLURM_JOB_ID=4", "SLURM_NTASKS=3", "SLURM_STEP_NUM_TASKS=3", "SLURM_PROCID=2",
      "SLURM_LOCALID=1", "SLURM_NODEID=1", "SLURM_STEP_ID=0", "SLURM_TASK_PID=500", "SLURM_NTASKS_HET_GROUP_0=1"},
     Launcher::kSlurm,
     2,
     3,
     1,
     1},
    {"a_pod_of_a_pytorchjob",
     {"RANK=2", "WORLD_SIZE=4", "PET_NODE_RANK=2", "KUBERNETES_SERVICE_HOST=10.0.0.1"},
     Launcher::kPlainEnv,
     2,
     4,
     -1,
     2},
    {"rank_without_a_size", {"RANK=2"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"indexed_job", {"JOB_COMPLETION_INDEX=2"}, Launcher::kKubernetes, 2, -1, 0, 2},
    {"indexed_job_with_its_size",
     {"JOB_COMPLETION_INDEX=2", "JAXPROF_WORLD_SIZE=4"},
     Launcher::kKubernetes,
     2,
     4,
     0,
     2},
    {"indexed_job_beyond_its_size",
     {"JOB_COMPLETION_INDEX=4", "JAXPROF_WORLD_SIZE=4"},
     Launcher::kUnknown,
     -1,
     -1,
     -1,
     -1},
    {"jobset",
     {"JOB_COMPLETION_INDEX=1", "JAXPROF_JOB_INDEX=2", "JAXPROF_PODS_PER_JOB=4", "JAXPROF_WORLD_SIZE=12"},
     Launcher::kKubernetes,
     9,
     12,
     0,
     9},
    {"jobset_without_its_pods", {"JOB_COMPLETION_INDEX=1", "JAXPROF_JOB_INDEX=2"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"jobset_with_too_few_pods",
     {"JOB_COMPLETION_INDEX=4", "JAXPROF_JOB_INDEX=2", "JAXPROF_PODS_PER_JOB=4"},
     Launcher::kUnknown,
     -1,
     -1,
     -1,
     -1},
    {"mpirun_in_a_pod_of_an_indexed_job",
     {"JOB_COMPLETION_INDEX=0", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_LOCAL_RANK=1"},
     Launcher::kOpenMpi,
     3,
     4,
     1,
     -1},
    {"pbs_without_a_launcher", {"PBS_JOBID=12.server", "PBS_NODENUM=0"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"lsf_without_a_launcher", {"LSB_JOBID=12", "LSB_DJOB_NUMPROC=4"}, Launcher::kUnknown, -1, -1, -1, -1},
    {"jsrun_with_spectrum_mpi",
     {"JSM_NAMESPACE_RANK=3", "JSM_NAMESPACE_SIZE=6", "OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=6",
      "OMPI_COMM_WORLD_LOCAL_RANK=1"},
     Launcher::kOpenMpi,
     3,
     6,
     1,
     -1},
};

INSTANTIATE_TEST_SUITE_P(Systems, RankTable, testing::ValuesIn(kMoreCases),
                         [](const auto& test) { return std::string(test.param.name); });
INSTANTIATE_TEST_SUITE_P(Launchers, RankTable, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(ResolveRank, NamesTheVariableThatDecided) {
  const test::Environment environment{"OMPI_COMM_WORLD_RANK=3", "OMPI_COMM_WORLD_SIZE=4"};
  EXPECT_STREQ(resolve_rank(environment.env(), kPid).rank_variable, "OMPI_COMM_WORLD_RANK");
}

TEST(IsPerRankVariable, TellsRanksFromJobs) {
  for (const char* name : {"SLURM_PROCID", "SLURM_LOCALID", "SLURM_NODEID", "RANK", "LOCAL_RANK", "PMI_RANK",
                           "OMPI_COMM_WORLD_RANK", "HOSTNAME", "SLURMD_NODENAME", "JAXPROF_RANK", "PALS_NODEID"}) {
    EXPECT_TRUE(is_per_rank_variable(name)) << name;
  }
  for (const char* name : {"SLURM_JOB_ID", "SLURM_STEP_ID", "WORLD_SIZE", "USER", "SLURM_NTASKS", ""}) {
    EXPECT_FALSE(is_per_rank_variable(name)) << name;
  }
}

RankVariables named(const char* rank, const char* local_rank = "", const char* world_size = "") {
  RankVariables variables;
  TextBuffer(variables.rank, sizeof variables.rank).append(rank);
  TextBuffer(variables.local_rank, sizeof variables.local_rank).append(local_rank);
  TextBuffer(variables.world_size, sizeof variables.world_size).append(world_size);
  return variables;
}

TEST(IsPerRankVariable, KnowsTheNamedOnes) {
  const RankVariables variables = named("MY_RANK", "MY_LOCAL", "MY_SIZE");
  EXPECT_TRUE(is_per_rank_variable("MY_RANK", variables));
  EXPECT_TRUE(is_per_rank_variable("MY_LOCAL", variables));
  EXPECT_FALSE(is_per_rank_variable("MY_SIZE", variables));
  EXPECT_FALSE(is_per_rank_variable("MY_RANK"));
  EXPECT_FALSE(is_per_rank_variable("", variables));
}

TEST(NamedRank, BeatsEverythingElse) {
  const test::Environment environment{"MY_RANK=3",       "MY_LOCAL=1",        "MY_SIZE=4",
                                      "JAXPROF_RANK=0",  "SLURM_PROCID=2",    "SLURM_STEP_NUM_TASKS=8",
                                      "SLURM_STEP_ID=0", "SLURM_TASK_PID=500"};
  const RankVariables variables = named("MY_RANK", "MY_LOCAL", "MY_SIZE");
  const RankIdentity rank = resolve_rank(environment.env(), kPid, variables);
  EXPECT_EQ(rank.launcher, Launcher::kNamed);
  EXPECT_EQ(rank.rank, 3);
  EXPECT_EQ(rank.world_size, 4);
  EXPECT_EQ(rank.local_rank, 1);
  EXPECT_STREQ(rank.rank_variable, "MY_RANK");
}

TEST(NamedRank, TakesWhatIsNotNamedFromJaxprofsOwnVariables) {
  const test::Environment environment{"MY_RANK=3", "JAXPROF_WORLD_SIZE=4", "JAXPROF_LOCAL_RANK=1", "SLURM_LOCALID=7"};
  const RankIdentity rank = resolve_rank(environment.env(), kPid, named("MY_RANK"));
  EXPECT_EQ(rank.launcher, Launcher::kNamed);
  EXPECT_EQ(rank.world_size, 4);
  EXPECT_EQ(rank.local_rank, 1);
}

TEST(NamedRank, ThatIsNoneLeavesItToTheTable) {
  const RankVariables variables = named("MY_RANK", "", "MY_SIZE");
  for (const std::vector<std::string>& mine : std::vector<std::vector<std::string>>{
           {}, {"MY_SIZE=4"}, {"MY_RANK=first", "MY_SIZE=4"}, {"MY_RANK=4", "MY_SIZE=4"}, {"MY_RANK=1"}}) {
    std::vector<std::string> entries = {"SLURM_STEP_ID=0", "SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=8"};
    entries.insert(entries.end(), mine.begin(), mine.end());
    const test::Environment environment(entries);
    const RankIdentity rank = resolve_rank(environment.env(), kPid, variables);
    EXPECT_EQ(rank.launcher, Launcher::kSlurm) << testing::PrintToString(mine);
    EXPECT_EQ(rank.rank, 2);
    EXPECT_FALSE(resolve_named_rank(environment.env(), variables).is_known());
  }
}

TEST(ResolveRank, OfAnMpiSingletonIsUnknown) {
  const test::Environment environment({"PMIX_RANK=0", "PMIX_NAMESPACE=315621377", "OMPI_MCA_ess=singleton"});
  EXPECT_FALSE(resolve_rank(environment.env(), 500).is_known());
}

}  // namespace
}  // namespace jaxprof
