#include "merge/program/narration.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/assembly/diagnostics.h"

namespace jaxprof::merge {
namespace {

using runfile::Severity;
using testing::ElementsAre;

TEST(HumanBytes, HasThreeDigits) {
  EXPECT_EQ(human_bytes(0), "0 B");
  EXPECT_EQ(human_bytes(999), "999 B");
  EXPECT_EQ(human_bytes(1000), "1.00 kB");
  EXPECT_EQ(human_bytes(241'000'000), "241 MB");
  EXPECT_EQ(human_bytes(12'340'000'000), "12.3 GB");
  EXPECT_EQ(human_bytes(5'000'000'000'000'000), "5e+03 TB");
}

TEST(ClockLine, SaysThatNodesCannotBeCompared) {
  runfile::RunTables run;
  run.attributes.n_nodes = 1;
  EXPECT_EQ(clock_line(run), "clock    1 node, wall clock");
  run.attributes.n_nodes = 2;
  EXPECT_THAT(clock_line(run), testing::HasSubstr("2 nodes, each by its own wall clock; bound unknown"));
}

TEST(ReadLine, CountsInTheRightNumber) {
  runfile::RunTables run;
  run.attributes.n_processes = 1;
  run.processes.n_events = {1};
  EXPECT_EQ(read_line(run), "reading  1 process, 1 event, 0 dropped");
  run.attributes.n_processes = 2;
  run.processes.n_events = {1, 6};
  run.attributes.n_dropped = 3;
  EXPECT_EQ(read_line(run), "reading  2 processes, 7 events, 3 dropped");
}

TEST(WrittenLine, SaysWhetherItIsAll) {
  EXPECT_EQ(written_line("run.h5", 1200, false), "written  run.h5  1.20 kB  complete");
  EXPECT_EQ(written_line("run.h5", 1200, true), "written  run.h5  1.20 kB  partial");
}

TEST(FindingLines, BringErrorsFirstAndCountTheRest) {
  runfile::RunTables run;
  assembly::Diagnostics diagnostics(&run);
  diagnostics.add(Severity::kInfo, "task.note", {}, 1, "a note");
  for (int i = 0; i < 7; ++i) diagnostics.add(Severity::kError, "rank.missing", {}, 1, "rank " + std::to_string(i));
  diagnostics.add(Severity::kWarning, "drop.ring-full", {}, 1, "a warning");
  EXPECT_THAT(finding_lines(run),
              ElementsAre("missing  rank 0", "missing  rank 1", "missing  rank 2", "missing  rank 3", "missing  rank 4",
                          "warning  a warning", "note     a note",
                          "         and 2 more of rank.missing (jaxprof-study summary lists them)"));
  EXPECT_TRUE(diagnostics.is_partial());
}

TEST(ListRuns, NamesThemWithWhatTheyHave) {
  rundir::RunDirectory directory;
  directory.runs.resize(2);
  directory.runs[0].run_id = "7.0.0";
  directory.runs[0].spools = {"a", "b"};
  directory.runs[1].run_id = "7.1.0";
  directory.runs[1].tasks.resize(1);
  EXPECT_EQ(list_runs(directory), "\n  7.0.0  0 tasks, 2 spools\n  7.1.0  1 task, 0 spools");
}

}  // namespace
}  // namespace jaxprof::merge
