// What the summary says of steps.
#include "merge/study/step_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/runfile/table_rows.h"
#include "merge/study/summary.h"
#include "tests/unit/runfile/sample_run.h"

namespace jaxprof::study {
namespace {

using runfile::RunTables;
using runfile::StepSource;
using testing::ElementsAre;

// "item|value|unit|detail" of each row of the section.
std::vector<std::string> lines(const RunTables& run) {
  Table table;
  Sections out(table);
  add_steps(out, run);
  std::vector<std::string> lines;
  for (const Row& row : table.rows) {
    EXPECT_EQ(std::get<std::string>(row[0]), "steps");
    std::string value;
    if (const auto* n = std::get_if<std::int64_t>(&row[2])) value = std::to_string(*n);
    if (const auto* x = std::get_if<double>(&row[2])) value = std::to_string(static_cast<std::int64_t>(*x));
    const auto* detail = std::get_if<std::string>(&row[4]);
    lines.push_back(std::get<std::string>(row[1]) + "|" + value + "|" + std::get<std::string>(row[3]) + "|" +
                    (detail != nullptr ? *detail : ""));
  }
  return lines;
}

// A run of processes with these ranks.
RunTables run_of_ranks(const std::vector<std::int32_t>& ranks) {
  RunTables run;
  run.attributes.step_marker = "step";
  for (const std::int32_t rank : ranks) run.processes.rank[runfile::add_row(run.processes)] = rank;
  return run;
}

void add_step(RunTables* run, std::uint32_t process, std::int64_t number, std::int64_t dur_ns) {
  const std::size_t row = runfile::add_row(run->steps);
  run->steps.process[row] = process;
  run->steps.step[row] = number;
  run->steps.dur_ns[row] = dur_ns;
  run->steps.source[row] = StepSource::kPayload;
}

TEST(StepSummary, ComparesTheRanks) {
  RunTables run = run_of_ranks({0, 1});
  for (std::int64_t number = 10; number < 13; ++number) {
    add_step(&run, 0, number, 100 * number);      // 1000, 1100, 1200
    add_step(&run, 1, number, 100 * number + 5);  // 1005, 1105, 1205
  }
  add_step(&run, 1, 13, runfile::kNoTime);
  EXPECT_THAT(lines(run),
              ElementsAre("marker||text|step", "steps|4|1|numbers 10 to 13, by payload",
                          "ranks with steps|2|1|ranks 0-1", "steps of all ranks|7|1|",
                          "never ended|1|1|they have no duration", "duration, shortest|1000|ns|step 10 of rank 0",
                          "duration, median|1102|ns|of all ranks' steps", "duration, longest|1205|ns|step 12 of rank 1",
                          "median of a rank, smallest|1100|ns|rank 0", "median of a rank, largest|1105|ns|rank 1"));
}

TEST(StepSummary, OfOneRankComparesNone) {
  RunTables run = run_of_ranks({3});
  add_step(&run, 0, -1, 50);
  EXPECT_THAT(lines(run),
              ElementsAre("marker||text|step", "steps|1|1|number -1, by payload", "ranks with steps|1|1|rank 3",
                          "steps of all ranks|1|1|", "duration, shortest|50|ns|step -1 of rank 3",
                          "duration, median|50|ns|of all ranks' steps", "duration, longest|50|ns|step -1 of rank 3"));
}

TEST(StepSummary, KeepsProcessesOfUnknownRankApart) {
  RunTables run = run_of_ranks({-1, -1});
  add_step(&run, 0, 0, 50);
  add_step(&run, 1, 0, 70);
  const auto rows = lines(run);
  EXPECT_THAT(rows, testing::Contains("ranks with steps|2|1|2 of unknown rank"));
  EXPECT_THAT(rows, testing::Contains("median of a rank, largest|70|ns|process 1"));
}

TEST(StepSummary, OfNoStepsGivesTheMergesReason) {
  RunTables run = run_of_ranks({0});
  const std::size_t row = runfile::add_row(run.diagnostics);
  run.diagnostics.code[row] = run.strings.intern("step.none");
  run.diagnostics.text[row] = run.strings.intern("no range \"step\"; name one");
  EXPECT_THAT(lines(run), ElementsAre("marker||text|step", "steps|0|1|no range \"step\"; name one"));
}

TEST(StepSummary, OfNoStepsHasAReasonInEveryCase) {
  RunTables run = run_of_ranks({0});
  run.attributes.step_marker = "";
  EXPECT_THAT(lines(run), ElementsAre("marker||text|unknown",
                                      "steps|0|1|the spools do not say what marks a step: they are from before jaxprof "
                                      "asked"));
  run.attributes.step_marker = "none";
  EXPECT_THAT(lines(run), ElementsAre("marker||text|none", "steps|0|1|none were looked for"));
  EXPECT_THAT(lines(RunTables{}), testing::Contains("steps|0|1|no process recorded anything"));
}

TEST(StepSummary, IsPartOfTheSummary) {
  const Table table = summary(runfile::test::sample_run());
  const auto is_step = [](const Row& row) { return std::get<std::string>(row[0]) == "steps"; };
  EXPECT_GT(std::count_if(table.rows.begin(), table.rows.end(), is_step), 5);
  EXPECT_TRUE(summary_wants("/steps/dur_ns"));
  EXPECT_TRUE(summary_wants("/steps/process_offset"));
}

}  // namespace
}  // namespace jaxprof::study
