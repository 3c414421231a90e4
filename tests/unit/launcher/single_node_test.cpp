#include "launcher/single_node.h"

#include <gtest/gtest.h>

#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

RankIdentity rank_of(Launcher launcher, std::int32_t world_size) {
  RankIdentity rank;
  rank.launcher = launcher;
  rank.rank = launcher == Launcher::kUnknown ? -1 : 0;
  rank.world_size = world_size;
  return rank;
}

TEST(IsKnownSingleNode, BelievesWhatLaunchersTellOfTheirOwnRanks) {
  const test::Environment one{"SLURM_STEP_TASKS_PER_NODE=4", "OMPI_COMM_WORLD_LOCAL_SIZE=2", "MPI_LOCALNRANKS=8",
                              "LOCAL_WORLD_SIZE=16"};
  EXPECT_TRUE(is_known_single_node(rank_of(Launcher::kSlurm, 4), one.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kSlurm, 6), one.env())) << "a heterogeneous step";
  EXPECT_TRUE(is_known_single_node(rank_of(Launcher::kOpenMpi, 2), one.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kOpenMpi, 4), one.env()));
  EXPECT_TRUE(is_known_single_node(rank_of(Launcher::kHydra, 8), one.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kTorchElastic, 32), one.env()));
  const test::Environment two{"SLURM_STEP_TASKS_PER_NODE=2(x2)"};
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kSlurm, 4), two.env()));
}

TEST(IsKnownSingleNode, OneProcessIsOnOneNodeUnlessARunIsJoinedByHand) {
  const test::Environment nothing{};
  EXPECT_TRUE(is_known_single_node(rank_of(Launcher::kUnknown, -1), nothing.env()));
  EXPECT_TRUE(is_known_single_node(rank_of(Launcher::kPlainEnv, 1), nothing.env()));
  const test::Environment joined{"JAXPROF_RUN=x"};
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kUnknown, -1), joined.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kPlainEnv, 1), joined.env()));
}

TEST(IsKnownSingleNode, WhatNobodyTellsIsNotKnown) {
  const test::Environment nothing{};
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kKubernetes, -1), nothing.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kPlainEnv, 2), nothing.env()));
  EXPECT_FALSE(is_known_single_node(rank_of(Launcher::kOpenMpi, 2), nothing.env()));
}

}  // namespace
}  // namespace jaxprof::launcher
