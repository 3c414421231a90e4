// Who got other variables than the rest, in the study and in the summary's section.
#include "merge/study/env.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "merge/study/env_variables.h"
#include "merge/study/summary.h"
#include "tests/unit/runfile/sample_run.h"

namespace jaxprof::study {
namespace {

using runfile::EnvScope;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

std::string text(const Cell& cell) {
  if (const auto* n = std::get_if<std::int64_t>(&cell)) return std::to_string(*n);
  const auto* words = std::get_if<std::string>(&cell);
  return words != nullptr ? *words : "-";
}

// The cells of each row, with bars between them.
std::vector<std::string> lines(const Table& table) {
  std::vector<std::string> out;
  for (const Row& row : table.rows) {
    std::string& line = out.emplace_back();
    for (const Cell& cell : row) line += (line.empty() ? "" : "|") + text(cell);
  }
  return out;
}

// A value of a variable, on `n_tasks` tasks.
void add(runfile::RunTables* run, const char* name, const std::string& value, std::uint32_t n_tasks, EnvScope scope,
         bool is_per_task = false) {
  const std::size_t row = runfile::add_row(run->env);
  run->env.name[row] = run->strings.intern(name);
  run->env.value[row] = run->strings.intern(value);
  run->env.is_set[row] = 1;
  run->env.n_tasks[row] = n_tasks;
  run->env.ranks[row] = run->strings.intern("ranks of " + value.substr(0, 8));
  run->env.scope[row] = scope;
  run->env.is_per_task[row] = is_per_task ? 1 : 0;
}

TEST(Env, NamesWhoDiffersFirst) {
  const Table table = env(runfile::test::sample_run());
  EXPECT_EQ(table.verdict, "1 of 2 variables differs between ranks that should be alike: NCCL_ALGO");
  EXPECT_THAT(lines(table), ElementsAre("NCCL_ALGO|3|0|by task|ranks 0-1,3|(not set)",
                                        "NCCL_ALGO|1|1|by task|rank 2|Tree", "NCCL_DEBUG|4|1|no|ranks 0-3|(empty)"));
}

TEST(Env, WhatIsMeantToDifferIsNoDrift) {
  runfile::RunTables run;
  add(&run, "A_ALIKE", "x", 2, EnvScope::kAlike);
  for (const char* value : {"0", "1"}) add(&run, "SLURM_PROCID", value, 1, EnvScope::kTask, true);
  for (const char* value : {"m0", "m1"}) add(&run, "UCX_NET_DEVICES", value, 1, EnvScope::kLocalRank);
  const Table table = env(run);
  EXPECT_EQ(table.verdict, "no differences: 3 variables of 2 tasks are alike, or differ as launchers set them");
  EXPECT_THAT(lines(table), ElementsAre("UCX_NET_DEVICES|1|1|by local rank|ranks of m0|m0",
                                        "UCX_NET_DEVICES|1|1|by local rank|ranks of m1|m1",
                                        "A_ALIKE|2|1|no|ranks of x|x", "SLURM_PROCID|1|1|set by launcher|ranks of 0|0",
                                        "SLURM_PROCID|1|1|set by launcher|ranks of 1|1"));
}

TEST(Env, ManyOrLongValuesAreShownInFullIfAskedFor) {
  runfile::RunTables run;
  for (int i = 0; i < 100; ++i) add(&run, "NCCL_X", std::to_string(i) + std::string(200, 'x'), 2, EnvScope::kNode);
  const auto few = lines(env(run));
  EXPECT_EQ(few.size(), 9u);
  EXPECT_EQ(few[0], "NCCL_X|2|1|by node|ranks of 0xxxxxxx|0" + std::string(99, 'x') + "…");
  EXPECT_EQ(few[8], "NCCL_X|184|-|by node|-|(92 more values: --all)");
  StudyOptions asked;
  asked.lists_all = true;
  StudyOptions csv;
  csv.is_for_programs = true;
  for (const StudyOptions& options : {asked, csv}) {
    const auto all = lines(env(run, options));
    EXPECT_EQ(all.size(), 100u);
    EXPECT_THAT(all[0], HasSubstr("|0" + std::string(200, 'x')));
  }
}

TEST(Env, SaysWhyThereIsNothing) {
  const Table table = env(runfile::RunTables());
  EXPECT_THAT(table.rows, IsEmpty());
  EXPECT_THAT(table.empty_reason, HasSubstr("--env off"));
}

TEST(Env, ARedactedFileStillTellsWhoDiffers) {
  runfile::RunTables run = runfile::test::sample_run();
  run.attributes.redacted = 1;
  run.env.value[1] = runfile::StringId::kEmpty;
  EXPECT_THAT(lines(env(run)), Contains("NCCL_ALGO|1|1|by task|rank 2|(left out)"));
}

TEST(EnvSummary, NamesDifferencesWithWhoHasWhat) {
  const auto rows = lines(summary(runfile::test::sample_run()));
  EXPECT_THAT(rows, Contains("environment|variables|2|1|of 4 tasks; jaxprof-study env lists them"));
  EXPECT_THAT(rows, Contains("environment|differ, though ranks should be alike|1|1|-"));
  EXPECT_THAT(rows, Contains("environment|NCCL_ALGO|2|1|(not set) on ranks 0-1,3; Tree on rank 2"));
  EXPECT_THAT(rows, Not(Contains(HasSubstr("NCCL_DEBUG"))));
}

TEST(EnvSummary, IsShortHoweverManyDiffer) {
  runfile::RunTables run;
  for (int i = 0; i < 30; ++i) {
    const std::string name = "NCCL_" + std::to_string(100 + i);
    for (int value = 0; value < 6; ++value) add(&run, name.c_str(), std::to_string(value), 1, EnvScope::kTask);
  }
  const auto rows = lines(summary(run));
  EXPECT_THAT(rows,
              Contains("environment|NCCL_119|6|1|0 on ranks of 0; 1 on ranks of 1; 2 on ranks of 2; 3 on ranks of "
                       "3; and 2 more"));
  EXPECT_THAT(rows, Not(Contains(HasSubstr("NCCL_120"))));
  EXPECT_THAT(rows, Contains("environment|further ones|10|1|jaxprof-study env lists them"));
}

TEST(EnvSummary, SaysThatNothingWasRecorded) {
  EXPECT_THAT(lines(summary(runfile::RunTables())),
              Contains("environment|variables|0|1|none were recorded: --env off, none set, or an older jaxprof"));
}

}  // namespace
}  // namespace jaxprof::study
