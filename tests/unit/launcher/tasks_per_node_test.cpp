#include "launcher/tasks_per_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/contract/environment.h"

namespace jaxprof::launcher {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ParseTasksPerNode, ReadsSlurmsShortForm) {
  EXPECT_THAT(parse_tasks_per_node("2,3"), ElementsAre(2, 3));
  EXPECT_THAT(parse_tasks_per_node("1(x2),4"), ElementsAre(1, 1, 4));
  for (const char* text : {"", "x", "2(x", "2(x)", "2(x2", ",", "-1", "2(x99999999999)"}) {
    EXPECT_THAT(parse_tasks_per_node(text), IsEmpty()) << text;
  }
}

TEST(FindTasksPerNode, BelievesSlurmOfItsOwnRanksOnly) {
  const test::Environment environment{"SLURM_STEP_TASKS_PER_NODE=4,2"};
  RankIdentity own;
  own.launcher = Launcher::kSlurm;
  EXPECT_THAT(find_tasks_per_node(own, environment.env()), ElementsAre(4, 2));
  own.launcher = Launcher::kOpenMpi;  // mpirun in an allocation: the step is its daemons
  EXPECT_THAT(find_tasks_per_node(own, environment.env()), IsEmpty());
  own.launcher = Launcher::kSlurm;
  const test::Environment nothing{};
  EXPECT_THAT(find_tasks_per_node(own, nothing.env()), IsEmpty());
}

}  // namespace
}  // namespace jaxprof::launcher
