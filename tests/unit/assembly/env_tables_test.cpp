// Which variables the tasks had, and between what they differ.
#include "merge/assembly/env_tables.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using test::findings;
using testing::ElementsAre;
using testing::IsEmpty;

using Environment = std::map<std::string, std::string>;

class EnvTablesTest : public testing::Test {
 protected:
  // The next rank, of two a node.
  void add(Environment environment, bool is_recorded = true) {
    TaskStart start = test::task_start(n_ranks_, 4, "n" + std::to_string(n_ranks_ / 2));
    start.local_rank = n_ranks_ % 2;
    start.environment = std::move(environment);
    start.has_environment = is_recorded;
    run_.add(start);
    run_.add(test::task_end(n_ranks_++));
  }

  // "NAME=VALUE: tasks, scope" of each row; "NAME: …" where it is not set.
  std::vector<std::string> rows() {
    const runfile::RunTables run = run_.assemble().tables;
    std::vector<std::string> rows;
    for (std::size_t row = 0; row < runfile::n_rows(run.env); ++row) {
      std::string text(run.strings.text(run.env.name[row]));
      if (run.env.is_set[row] == 1) text += "=" + std::string(run.strings.text(run.env.value[row]));
      text += ":";
      const std::uint64_t end = run.env_task_offset.at(row + 1);
      EXPECT_EQ(end - run.env_task_offset[row], run.env.n_tasks[row]);
      for (std::uint64_t at = run.env_task_offset[row]; at < end; ++at) {
        text += " " + std::to_string(run.env_tasks.task.at(at));
      }
      rows.push_back(text + ", " + std::string(runfile::word(run.env.scope[row])));
      is_per_task_.push_back(run.env.is_per_task[row]);
      ranks_.emplace_back(run.strings.text(run.env.ranks[row]));
    }
    return rows;
  }

  test::RunFolder run_;
  std::int64_t n_ranks_ = 0;
  std::vector<std::uint8_t> is_per_task_;
  std::vector<std::string> ranks_;
};

TEST_F(EnvTablesTest, WhatIsAlikeIsOneRow) {
  for (int rank = 0; rank < 4; ++rank) add({{"NCCL_ALGO", "Ring"}, {"NCCL_DEBUG", ""}});
  EXPECT_THAT(rows(), ElementsAre("NCCL_ALGO=Ring: 0 1 2 3, alike", "NCCL_DEBUG=: 0 1 2 3, alike"));
  EXPECT_THAT(ranks_, ElementsAre("ranks 0-3", "ranks 0-3"));
  EXPECT_THAT(is_per_task_, ElementsAre(0, 0));
}

TEST_F(EnvTablesTest, OneRankThatIsOtherFollowsTheRest) {
  for (int rank = 0; rank < 4; ++rank) {
    add(rank == 0   ? Environment{{"NCCL_ALGO", "Tree"}, {"XLA_FLAGS", "x"}}
        : rank == 3 ? Environment{{"NCCL_ALGO", "Ring"}}
                    : Environment{{"NCCL_ALGO", "Ring"}, {"XLA_FLAGS", "x"}});
  }
  EXPECT_THAT(rows(), ElementsAre("NCCL_ALGO=Ring: 1 2 3, task", "NCCL_ALGO=Tree: 0, task", "XLA_FLAGS=x: 0 1 2, task",
                                  "XLA_FLAGS: 3, task"));
  EXPECT_THAT(ranks_, ElementsAre("ranks 1-3", "rank 0", "ranks 0-2", "rank 3"));
}

TEST_F(EnvTablesTest, WhatGoesByLocalRankOrNodeIsToldApart) {
  for (int rank = 0; rank < 4; ++rank) {
    add({{"UCX_NET_DEVICES", "mlx5_" + std::to_string(rank % 2)},
         {"NCCL_DEBUG", rank < 2 ? "INFO" : "WARN"},
         {"SLURM_PROCID", std::to_string(rank)}});
  }
  EXPECT_THAT(rows(),
              ElementsAre("NCCL_DEBUG=INFO: 0 1, node", "NCCL_DEBUG=WARN: 2 3, node", "SLURM_PROCID=0: 0, task",
                          "SLURM_PROCID=1: 1, task", "SLURM_PROCID=2: 2, task", "SLURM_PROCID=3: 3, task",
                          "UCX_NET_DEVICES=mlx5_0: 0 2, local_rank", "UCX_NET_DEVICES=mlx5_1: 1 3, local_rank"));
  EXPECT_THAT(is_per_task_, ElementsAre(0, 0, 1, 1, 1, 1, 0, 0));
}

TEST_F(EnvTablesTest, OnOneNodeNothingGoesByLocalRank) {
  add({{"NCCL_ALGO", "Ring"}});
  add({{"NCCL_ALGO", "Tree"}});
  EXPECT_THAT(rows(), ElementsAre("NCCL_ALGO=Ring: 0, task", "NCCL_ALGO=Tree: 1, task"));
}

TEST_F(EnvTablesTest, TasksWithoutARecordedEnvironmentAreInNoRow) {
  add({{"NCCL_ALGO", "Ring"}});
  add({}, false);
  add({});
  EXPECT_THAT(rows(), ElementsAre("NCCL_ALGO=Ring: 0, node", "NCCL_ALGO: 2, node"));
}

TEST_F(EnvTablesTest, NothingRecordedIsNoRow) {
  add({}, false);
  EXPECT_THAT(rows(), IsEmpty());
}

TEST_F(EnvTablesTest, WhatDidNotFitIsTold) {
  TaskStart start = test::task_start(0, 1);
  start.has_environment = true;
  start.environment_dropped = 3;
  run_.add(start);
  EXPECT_THAT(findings(run_.assemble().tables, "env.dropped"),
              ElementsAre("rank 0 on n0: 3 variables of its environment did not fit into its record"));
}

TEST_F(EnvTablesTest, ForgedRecordsMakeNoTableWithoutEnd) {
  Environment environment;
  for (std::size_t i = 0; i < kMaxVariableNames + 5; ++i) environment["V" + std::to_string(i)] = "x";
  add(environment);
  add({});
  const runfile::RunTables run = run_.assemble().tables;
  EXPECT_EQ(runfile::n_rows(run.env), 2 * kMaxVariableNames);
  EXPECT_EQ(findings(run, "env.dropped").size(), 1u);
}

}  // namespace
}  // namespace jaxprof::assembly
