// What of an environment is written down, and what never is.
#include "launcher/recorded_environment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::IsEmpty;
using testing::Key;
using testing::Pair;
using testing::StartsWith;

TEST(RecordedEnvironment, HoldsWhatSteersTheCommand) {
  const auto recorded = record_environment({"NCCL_ALGO=Ring", "HOME=/home/u", "XLA_FLAGS=--a=1 --b=2", "SLURM_PROCID=3",
                                            "SLURM_JOB_USER=u", "LD_LIBRARY_PATH=/a:/b", "PYTHONPATH=", "PATH=/bin"});
  EXPECT_THAT(recorded.variables,
              ElementsAre(Pair("LD_LIBRARY_PATH", "/a:/b"), Pair("NCCL_ALGO", "Ring"), Pair("PYTHONPATH", ""),
                          Pair("SLURM_PROCID", "3"), Pair("XLA_FLAGS", "--a=1 --b=2")));
  EXPECT_THAT(recorded.withheld, IsEmpty());
  EXPECT_EQ(recorded.n_dropped, 0u);
}

TEST(RecordedEnvironment, TakesTheFirstOfAName) {
  EXPECT_THAT(record_environment({"NCCL_ALGO=Ring", "NCCL_ALGO=Tree", "NCCL", "=x"}).variables,
              ElementsAre(Pair("NCCL_ALGO", "Ring")));
}

TEST(RecordedEnvironment, HoldsWhatIsAddedByName) {
  const std::vector<std::string> environment = {"MYAPP_X=1", "MYAPP_Y=2", "HYDRA_FULL_ERROR=1", "OTHER=3"};
  EXPECT_THAT(record_environment(environment).variables, IsEmpty());
  EXPECT_THAT(record_environment(environment, {"MYAPP_*", "HYDRA_FULL_ERRO?"}).variables,
              ElementsAre(Key("HYDRA_FULL_ERROR"), Key("MYAPP_X"), Key("MYAPP_Y")));
}

TEST(RecordedEnvironment, NeverHoldsSecretsWhoeverAllowsThem) {
  std::vector<std::string> environment;
  for (const char* name : {"NVIDIA_API_KEY", "JAX_AUTH", "NCCL_Token", "SLURM_JWT", "UCX_PASSWORD", "MPI_PASSWD",
                           "TF_CREDENTIALS", "XLA_SECRET", "PMIX_SERVER_URI2", "PMIX_MCA_cookie", "SLURM_COOKIE",
                           "OMPI_MCA_orte_hnp_uri", "OMPI_MCA_orte_precondition_transports", "WANDB_API_KEY"}) {
    EXPECT_TRUE(looks_secret(name)) << name;
    environment.push_back(std::string(name) + "=hunter2");
  }
  for (const auto& added :
       {std::vector<std::string>{}, std::vector<std::string>{"W*", "O*", "P*", "S*", "NVIDIA_API_KEY"}}) {
    EXPECT_THAT(record_environment(environment, added).variables, IsEmpty());
  }
  EXPECT_EQ(record_environment(environment, {"W*", "O*", "P*", "S*"}).withheld.size(), environment.size());
  EXPECT_THAT(record_environment({"NVIDIA_API_KEY=x", "WANDB_API_KEY=y"}).withheld, ElementsAre("NVIDIA_API_KEY"));
}

TEST(RecordedEnvironment, KnowsHarmlessNamesWithSecretWords) {
  EXPECT_THAT(record_environment({"NCCL_IB_PKEY=2", "JAX_DEBUG_KEY_REUSE=1"}).variables,
              ElementsAre(Key("JAX_DEBUG_KEY_REUSE"), Key("NCCL_IB_PKEY")));
}

TEST(RecordedEnvironment, LeavesOutWhatLaunchersTellTheirOwn) {
  const std::vector<std::string> environment = {"OMPI_MCA_ess_base_vpid=3", "OMPI_MCA_orte_top_session_dir=/tmp/x",
                                                "OMPI_MCA_btl=tcp,self", "MPI_LOCALRANKID=1"};
  EXPECT_THAT(record_environment(environment).variables, ElementsAre(Pair("OMPI_MCA_btl", "tcp,self")));
  EXPECT_THAT(record_environment(environment, {"MPI_LOCALRANKID"}).variables,
              ElementsAre(Key("MPI_LOCALRANKID"), Key("OMPI_MCA_btl")));
}

TEST(RecordedEnvironment, LeavesUserAndPasswordOutOfUrls) {
  EXPECT_THAT(
      record_environment({"JAX_COMPILATION_CACHE_DIR=https://u:p@host/x,s3://k@b", "TF_X=a@b://c/d@e"}).variables,
      ElementsAre(Pair("JAX_COMPILATION_CACHE_DIR", "https://…@host/x,s3://…@b"), Pair("TF_X", "a@b://c/d@e")));
}

TEST(RecordedEnvironment, CutsLongValuesAndTellsThemApart) {
  const std::string begin(kMaxRecordedValueBytes, 'x');
  EXPECT_THAT(record_environment({"XLA_FLAGS=" + begin}).variables, ElementsAre(Pair("XLA_FLAGS", begin)));
  const std::string one = record_environment({"XLA_FLAGS=" + begin + "1"}).variables.at("XLA_FLAGS");
  const std::string two = record_environment({"XLA_FLAGS=" + begin + "2"}).variables.at("XLA_FLAGS");
  EXPECT_THAT(one, StartsWith(begin + "… (cut, 4097 bytes, hash "));
  EXPECT_NE(one, two);
  EXPECT_EQ(one, record_environment({"XLA_FLAGS=" + begin + "1"}).variables.at("XLA_FLAGS"));
  // not in mid-character
  const std::string umlauts = record_environment({"XLA_FLAGS=x" + begin.substr(2) + "ää"}).variables.at("XLA_FLAGS");
  EXPECT_THAT(umlauts, StartsWith("x" + begin.substr(2) + "… (cut, "));
}

TEST(RecordedEnvironment, CountsWhatDoesNotFit) {
  std::vector<std::string> environment;
  for (int i = 100; i < 140; ++i) environment.push_back("NCCL_" + std::to_string(i) + "=" + std::string(2000, 'x'));
  const auto recorded = record_environment(environment);
  EXPECT_EQ(recorded.variables.size(), kMaxRecordedBytes / 2008);
  EXPECT_EQ(recorded.variables.size() + recorded.n_dropped, environment.size());
  EXPECT_EQ(recorded.variables.begin()->first, "NCCL_100");
}

}  // namespace
}  // namespace jaxprof::launcher
