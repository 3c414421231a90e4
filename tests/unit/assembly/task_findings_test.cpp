// What the merge says of tasks that were killed, stopped or collected: who, where and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/findings_case.h"

namespace jaxprof::assembly {
namespace {

using spool::FooterReason;
using test::codes;
using test::findings;
using test::FindingsTest;
using test::kSecond;
using test::Recording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

TEST_F(FindingsTest, AClaimIsPartOfItsRanksVerdict) {
  run_.add_rank(Recording(0, 2, "n0"), 0, 2, "n0");
  TaskStart start = test::task_start(1, 2, "n1");
  start.stem = "rank1";
  start.realtime_ns = 3 * kSecond;
  run_.add(start);
  test::write_file(run_.file("rank1.jxspool.part"), "");
  assemble();
  EXPECT_THAT(codes(tables()), ElementsAre("rank.missing"));
  EXPECT_THAT(findings(tables(), "rank.missing"),
              ElementsAre(AllOf(HasSubstr("rank 1 on n1: its wrapper ended before it could publish"),
                                HasSubstr("it began at 00:00:03.000Z, 2.0 s after the run began"))));
}

TEST_F(FindingsTest, AFileThatIsCutWithinItsFirstBlockIsPartOfItsRanksVerdict) {
  run_.add_rank(Recording(0, 2, "n0"), 0, 2, "n0");
  TaskStart start = test::task_start(1, 2, "n1");
  start.stem = "rank1";
  run_.add(start);
  test::write_file(run_.file("rank1.jxspool.part"), Recording(1, 2, "n1").bytes().substr(0, 40));
  auto found = rundir::read_run_directory(run_.path());
  rundir::FoundRun run = found->runs.at(0);
  run.unreadable_records = found->unreadable_spools;
  assembled_ = assemble_run(run);
  EXPECT_THAT(codes(tables()), ElementsAre("rank.missing"));
  EXPECT_THAT(findings(tables(), "rank.missing"),
              ElementsAre(HasSubstr("rank1.jxspool.part: no block says whose spool it is")));
}

TEST_F(FindingsTest, ATaskWithoutAnEndWhoseSpoolsAreWholeIsComplete) {
  Recording(0, 1, "n0").write(run_.path(), "rank0.jxspool");
  run_.add(test::task_start(0, 1));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), ElementsAre("task.no-end"));
  EXPECT_EQ(tables().diagnostics.severity.at(0), runfile::Severity::kWarning);
  EXPECT_EQ(tables().tasks.state[0], runfile::TaskState::kProfiled);
  EXPECT_EQ(tables().tasks.exit_code[0], runfile::kNoNumber);
}

TEST_F(FindingsTest, WhatWasCollectedHasNoExit) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  TaskEnd end = test::task_end(0);
  end.exit_code = -1;
  end.is_collected = true;
  end.notes = {"a note"};
  run_.add(end);
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_EQ(tables().tasks.exit_code[0], runfile::kNoNumber);
  EXPECT_THAT(findings(tables(), "task.collected"), ElementsAre(HasSubstr("how its command ended is not known")));
  EXPECT_THAT(findings(tables(), "task.note"), ElementsAre("rank 0 on n0: a note"));
}

TEST_F(FindingsTest, ARecordingThatWasStoppedIsCompleteUpToThen) {
  const std::pair<FooterReason, const char*> reasons[] = {{FooterReason::kDeadline, "time limit was near (--margin)"},
                                                          {FooterReason::kSpoolLimit, "reached --spool-limit"},
                                                          {FooterReason::kDiskReserve, "disk of its spools"}};
  for (const auto& [reason, words] : reasons) {
    Recording recorded = recording(0, "n0", 100, 160);
    recorded.stop(reason, 160 * kSecond);
    run_.add_rank(recorded, 0, 1, "n0");
    TaskEnd end = test::task_end(0);
    PublishedProcess process;
    process.state = "ended";
    process.spool = "rank0.jxspool";
    process.dropped = 7;
    PublishedProcess late;
    late.pid = 77;
    late.state = "stopped";
    late.note = "its task's recording had been stopped before it began: deadline";
    end.processes = {process, late};
    run_.add(end);
    assemble();
    EXPECT_FALSE(assembled_.is_partial);
    EXPECT_EQ(tables().processes.is_complete[0], 1);
    EXPECT_EQ(tables().processes.end_ns[0], 60 * kSecond);
    EXPECT_EQ(tables().processes.n_dropped[0], 7u);
    EXPECT_THAT(findings(tables(), "recording.stopped"),
                ElementsAre("rank 0 on n0: process 77 was not recorded: " + late.note,
                            AllOf(HasSubstr(") ends at 00:02:40.000Z, 60.0 s after the run began: "), HasSubstr(words),
                                  HasSubstr("; the process went on"))));
    EXPECT_THAT(findings(tables(), "drop.untold"),
                ElementsAre(HasSubstr("dropped 7 more by the wrapper's count, after its recording had stopped")));
  }
}

TEST_F(FindingsTest, ATaskThatCameAfterTheStopIsNoLoss) {
  run_.add_rank(Recording(0, 2, "n0"), 0, 2, "n0");
  run_.add(test::task_start(1, 2));
  TaskEnd end = test::task_end(1);
  PublishedProcess late;
  late.state = "stopped";
  late.note = "its task's recording had been stopped before it began: disk-reserve";
  end.processes = {late};
  run_.add(end);
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_EQ(tables().tasks.state[1], runfile::TaskState::kUnprofiled);
  EXPECT_THAT(findings(tables(), "recording.stopped"), ElementsAre("rank 1 on n0: " + late.note));
}

TEST_F(FindingsTest, AProcessThatCouldNotBeRecordedMakesItsTaskPartial) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  TaskEnd end = test::task_end(0);
  PublishedProcess lost;
  lost.pid = 77;
  lost.state = "failed";
  lost.note = "it could not open its session page: Too many open files";
  end.processes.push_back(lost);
  lost.pid = 0;
  lost.note = "44 more processes than one task can record (1024)";
  end.processes.push_back(lost);
  run_.add(end);
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(
      findings(tables(), "process.failed"),
      ElementsAre("rank 0 on n0: process 77 was not recorded: it could not open its session page: Too many open "
                  "files",
                  "rank 0 on n0: not recorded: 44 more processes than one task can record (1024)"));
}

TEST_F(FindingsTest, SpoolsWithoutTheirTasksRecordsAreToldOnceATask) {
  run_.add_rank(recording(0, "n0", 100, 200, 2), 0, 2, "n0");
  recording(1, "n1", 100, 200, 2).write(run_.path(), "rank1.jxspool");
  recording(1, "n1", 110, 200, 2).write(run_.path(), "rank1.n1.78.jxspool");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "task.no-record"),
              ElementsAre("rank 1 on n1: its task's records are gone or cannot be read: how it ended is not known"));
}

TEST_F(FindingsTest, ManyTasksToCollectFromAreOneLineWithTheirNodes) {
  for (std::int64_t rank = 0; rank < 4; ++rank) {
    const std::string host = "n" + std::to_string(rank / 2);
    if (rank > 0) recording(rank, host, 100, 200, 4).write(run_.path(), "r" + std::to_string(rank) + ".jxspool", false);
    run_.add(test::task_start(rank, 4, host));
  }
  assemble();
  EXPECT_THAT(
      findings(tables(), "task.to-collect"),
      ElementsAre("4 tasks may have left more on their nodes: run `jaxprof collect " + run_.path() + "` on n0, n1"));
}

}  // namespace
}  // namespace jaxprof::assembly
