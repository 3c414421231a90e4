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
  EXPECT_EQ(clock_line(run),
            "clock    2 nodes, wall clock of each node, bound unknown: times of different nodes cannot be compared");
}

TEST(ReadLine, CountsInTheRightNumber) {
  runfile::RunTables run;
  run.attributes.n_processes = 1;
  run.processes.n_events = {1};
  EXPECT_EQ(read_line(run), "reading  1 process, 1 spool record, 0 dropped");
  run.attributes.n_processes = 2;
  run.processes.n_events = {1, 6};
  run.attributes.n_dropped = 3;
  EXPECT_EQ(read_line(run), "reading  2 processes, 7 spool records, 3 dropped");
}

TEST(WrittenLine, SaysWhetherItIsAll) {
  EXPECT_EQ(written_line("run.h5", 1200, false), "written  run.h5  1.20 kB  complete");
  EXPECT_EQ(written_line("run.h5", 1200, true), "written  run.h5  1.20 kB  partial");
}

TEST(FindingLines, BringErrorsFirstAndCountTheRest) {
  runfile::RunTables run;
  assembly::Diagnostics diagnostics;
  diagnostics.add(Severity::kInfo, "task.note", {}, 1, "a note");
  for (std::int32_t i = 0; i < 7; ++i) {
    diagnostics.add(Severity::kError, "rank.missing", {i}, 1, "rank " + std::to_string(i));
  }
  diagnostics.add(Severity::kWarning, "drop.ring-full", {}, 1, "a warning");
  write_findings(diagnostics, &run);
  EXPECT_THAT(
      finding_lines(run, "run.h5"),
      ElementsAre("missing  rank 0", "missing  rank 1", "missing  rank 2", "missing  rank 3", "missing  rank 4",
                  "         and 2 more of rank.missing, ranks 5-6 (`jaxprof-study summary --all run.h5` lists them)",
                  "warning  a warning", "note     a note"));
  EXPECT_TRUE(diagnostics.is_partial());
}

TEST(FindingLines, PutWhatManyRanksSayAlikeInOneLine) {
  runfile::RunTables run;
  assembly::Diagnostics diagnostics;
  for (std::int32_t i = 0; i < 4; ++i) {
    diagnostics.add(Severity::kInfo, "nvtx.never-ended", {i}, 10, "rank " + std::to_string(i) + " on n0: 10 open");
    diagnostics.add(Severity::kWarning, "comm.size-unknown", {}, 1, "communicator " + std::to_string(i));
  }
  write_findings(diagnostics, &run);
  EXPECT_THAT(finding_lines(run, "run.h5"),
              ElementsAre("warning  comm.size-unknown: 4 in all; the first: communicator 0",
                          "note     nvtx.never-ended: 40 in all, ranks 0-3; the first: rank 0 on n0: 10 open"));
}

TEST(FindingLines, CallMissingOnlyWhatIs) {
  runfile::RunTables run;
  assembly::Diagnostics diagnostics;
  for (const char* code : {"rank.missing", "rank.failed", "spool.cut", "spool.short", "spool.damaged",
                           "spool.damaged-block", "spool.lost-blocks", "file.unreadable", "spool.duplicate"}) {
    diagnostics.add(Severity::kError, code, {}, 1, code);
  }
  write_findings(diagnostics, &run);
  EXPECT_THAT(finding_lines(run, "run.h5"),
              ElementsAre("missing  rank.missing", "error    rank.failed", "cut      spool.cut", "cut      spool.short",
                          "damaged  spool.damaged", "damaged  spool.damaged-block", "damaged  spool.lost-blocks",
                          "error    file.unreadable", "error    spool.duplicate"));
}

TEST(NothingLine, NamesTheRun) {
  runfile::RunTables run;
  run.attributes.run_id = "7.0.0";
  EXPECT_THAT(nothing_line(run), testing::HasSubstr("no task of run 7.0.0 left a spool"));
}

}  // namespace
}  // namespace jaxprof::merge
