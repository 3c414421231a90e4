// What the merge says of ranks that were killed, stopped, copied or collected: who, where and when.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "merge/assembly/run_time.h"
#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using spool::FooterReason;
using test::codes;
using test::findings;
using test::Recording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::int64_t kSecond = 1'000'000'000;

class FindingsTest : public testing::Test {
 protected:
  // Rank `rank` on `host`, recorded from second `from` to second `to` of the wall clock.
  static Recording recording(std::int64_t rank, const std::string& host, std::int64_t from, std::int64_t to,
                             std::int64_t world_size = 1) {
    Recording recorded(rank, world_size, host);
    recorded.set(spool::IdentityKey::kWrapperPid, 500 + rank);
    recorded.set_file_id(static_cast<std::uint64_t>(from * 1000 + to * 10 + rank) + std::hash<std::string>()(host));
    recorded.anchor({0, 0, from * kSecond, 0, 10});
    recorded.anchor({static_cast<std::uint64_t>((to - from) * kSecond), (to - from) * kSecond, to * kSecond,
                     (to - from) * kSecond, 10});
    return recorded;
  }
  void assemble() { assembled_ = run_.assemble(); }
  const runfile::RunTables& tables() const { return assembled_.tables; }

  test::RunFolder run_;
  AssembledRun assembled_;
};

TEST_F(FindingsTest, ACutSpoolTellsItsLastEventAndWhoMayHaveMore) {
  Recording recorded = recording(0, "n0", 40'000, 40'100);
  recorded.push(1, 0, 0, "range", 41'230'000'000);
  recorded.write(run_.path(), "rank0.jxspool.part", false);
  run_.add(test::task_start(0, 1));
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.cut"),
              ElementsAre("rank 0 on n0 (" + run_.file("rank0.jxspool.part") +
                          ") is cut: the last event is of 11:07:21.230Z, 41.2 s after the run began; its wrapper was "
                          "killed, or the run goes on; `jaxprof collect " +
                          run_.path() + "` on n0 may have more"));
  EXPECT_THAT(findings(tables(), "rank.missing"), IsEmpty()) << "the rank is told of once";
}

TEST_F(FindingsTest, ACutSpoolWithoutAnEventSaysThat) {
  recording(0, "n0", 100, 200).write(run_.path(), "rank0.jxspool", false);
  run_.add(test::task_start(0, 1));
  run_.add(test::task_end(0));
  assemble();
  EXPECT_THAT(findings(tables(), "spool.cut"),
              ElementsAre(AllOf(
                  HasSubstr("is cut: it holds no event, and its clock was last read at 00:03:20.000Z, 100.0 s after"),
                  HasSubstr("called _exit or exec"))));
}

// A spool of the command of a task that ended by `signal`, or by itself where that is 0.
class ProcessEndTest : public FindingsTest {
 protected:
  void end_command(Recording recorded, bool has_footer, std::int64_t signal, std::int64_t exit_code,
                   const std::string& note = "") {
    recorded.set(spool::IdentityKey::kPid, std::int64_t{77});
    recorded.write(run_.path(), "rank0.jxspool", has_footer);
    run_.add(test::task_start(0, 1));
    TaskEnd end = test::task_end(0);
    end.pid = 77;
    end.signal = signal;
    end.exit_code = exit_code;
    PublishedProcess process;
    process.pid = 77;
    process.state = has_footer ? "saved" : "cut";
    process.spool = "rank0.jxspool";
    process.note = note;
    end.processes = {process};
    run_.add(end);
    assemble();
  }
};

TEST_F(ProcessEndTest, ADeathIsToldWithItsSignalOrExitCode) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.save_after_death();
  end_command(recorded, true, 11, -1);
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(
      findings(tables(), "process.died"),
      ElementsAre(HasSubstr(") ended without its exit handlers, by signal 11 (SIGSEGV); what it had recorded")));
  end_command(recorded, true, 0, 3);
  EXPECT_THAT(findings(tables(), "process.died"),
              ElementsAre(HasSubstr(") ended without its exit handlers (_exit or exec), with exit code 3; what")));
  EXPECT_EQ(tables().diagnostics.severity.at(0), runfile::Severity::kInfo);
}

TEST_F(ProcessEndTest, TheDeathOfAnotherProcessThanTheCommandIsNotGuessed) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.save_after_death();
  recorded.set(spool::IdentityKey::kPid, std::int64_t{78});
  run_.add_rank(recorded, 0, 1, "n0");
  TaskEnd end = test::task_end(0);
  end.pid = 77;
  end.signal = 9;
  run_.add(end);
  assemble();
  EXPECT_THAT(findings(tables(), "process.died"),
              ElementsAre(HasSubstr(") ended without its exit handlers (killed, _exit or exec); what")));
}

TEST_F(ProcessEndTest, ACutSpoolTellsWhatEndedItsProcess) {
  end_command(recording(0, "n0", 100, 200), false, 9, -1, "its memory file is gone");
  EXPECT_THAT(findings(tables(), "spool.cut"),
              ElementsAre(HasSubstr("; its process was killed by signal 9 (SIGKILL); its memory file is gone")));
  end_command(recording(0, "n0", 100, 200), false, 0, 0);
  EXPECT_THAT(
      findings(tables(), "spool.cut"),
      ElementsAre(HasSubstr("; its process ended without its exit handlers (_exit or exec), with exit code 0")));
}

TEST_F(FindingsTest, WhatIsThereInPartIsNoLoss) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.drop(Drop::kGpuWithoutTime, 5);
  recorded.drop(Drop::kPayloadTruncated, 3);
  recorded.drop(Drop::kGpuBuffersFull, 2);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_EQ(tables().attributes.n_dropped, 2u);
  EXPECT_EQ(tables().processes.n_dropped[0], 2u);
  EXPECT_THAT(findings(tables(), "kept.gpu-without-time"), ElementsAre(HasSubstr("has 5 events in part")));
  EXPECT_THAT(findings(tables(), "kept.payload-truncated"), ElementsAre(HasSubstr("has 3 events in part")));
  EXPECT_THAT(findings(tables(), "drop.gpu-buffers-full"),
              ElementsAre(HasSubstr("dropped 2: gpu-buffers-full; a larger --buffer-size holds more")));
}

TEST_F(FindingsTest, ASpoolThatTheDiskDidNotTakeIsALoss) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.stop(FooterReason::kWriteFailed, 130 * kSecond);
  recorded.drop(Drop::kSpoolWriteFailed, 40);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre("rank 0 on n0 (" + run_.file("rank0.jxspool") +
                          ") could not be written any further: disk full or file size limit, since 00:02:10.000Z, "
                          "30.0 s after the run began"));
}

TEST_F(FindingsTest, ARecordingThatEndedWithAnothersSpoolIsALossToo) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.stop(FooterReason::kWriteFailed, 130 * kSecond);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre(HasSubstr(": another spool of its task could not be written: disk full")));
}

TEST_F(FindingsTest, ALossToTheDiskIsToldWithoutItsFooterToo) {
  Recording recorded = recording(0, "n0", 100, 160);
  recorded.drop(Drop::kSpoolWriteFailed, 40);
  run_.add_rank(recorded, 0, 1, "n0");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "recording.failed"),
              ElementsAre(HasSubstr(") could not be written at some time, which is not known: disk full or")));
  EXPECT_THAT(findings(tables(), "drop.spool-write-failed"), ElementsAre(HasSubstr("dropped 40")));
}

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

TEST_F(FindingsTest, APartBesideItsFinishedSpoolIsAnEarlierState) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  const std::string bytes = Recording(0, 1, "n0").bytes();
  test::write_file(run_.file("rank0.jxspool.part"), bytes.substr(0, bytes.size() - 10));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.part-left"),
              ElementsAre(run_.file("rank0.jxspool.part") + " is an earlier state of " + run_.file("rank0.jxspool") +
                          " and was left out"));
  EXPECT_EQ(runfile::n_rows(tables().processes), 1u);
}

TEST_F(FindingsTest, OfAPartAndACutSpoolTheLongerCounts) {
  Recording recorded(0, 1, "n0");
  recorded.push(1, 0, 0, "range", 50);
  const std::string bytes = recorded.bytes(false);
  test::write_file(run_.file("rank0.jxspool"), Recording(0, 1, "n0").bytes(false));
  test::write_file(run_.file("rank0.jxspool.part"), bytes);
  run_.add(test::task_start(0, 1));
  assemble();
  EXPECT_EQ(tables().processes.spool_bytes.at(0), bytes.size());
  EXPECT_THAT(findings(tables(), "spool.part-left"), ElementsAre(HasSubstr("rank0.jxspool is an earlier state of")));
}

TEST_F(FindingsTest, ASpoolOfAnotherRunIsNamed) {
  run_.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");
  Recording foreign(3, 8, "n7");
  foreign.set(spool::IdentityKey::kRunId, std::string("9.0.0"));
  foreign.set(spool::IdentityKey::kAttachRealtimeNs, 61 * kSecond);
  rundir::FoundRun run = rundir::read_run_directory(run_.path())->runs.at(0);
  run.foreign_spools = {foreign.write(run_.path(), "x.jxspool")};
  assembled_ = assemble_run(run);
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.foreign"),
              ElementsAre(run_.file("x.jxspool") +
                          " is of another run, 9.0.0 (rank 3 on n7, from 00:01:01.000Z, 60.0 s after the run began), "
                          "and was left out; --run 9.0.0 reads it"));
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

TEST_F(FindingsTest, OfTwoCopiesTheOneWithItsOwnNameIsKept) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.set(spool::IdentityKey::kStem, std::string("rank0"));
  run_.add_rank(recorded, 0, 1, "n0");
  recorded.write(run_.path(), "a.jxspool");
  recorded.write(run_.path(), "z.jxspool");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.duplicate"),
              ElementsAre(run_.file("a.jxspool") + " is a copy of the spool " + run_.file("rank0.jxspool") +
                              " and was left out; remove one of them",
                          HasSubstr("z.jxspool is a copy")));
}

TEST_F(FindingsTest, CopiesThatDifferMakeTheRunPartial) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.set(spool::IdentityKey::kStem, std::string("rank0"));
  run_.add_rank(recorded, 0, 1, "n0");
  recorded.push(1, 0, 0, "range", 50);
  recorded.write(run_.path(), "a.jxspool");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "spool.duplicate"),
              ElementsAre(run_.file("a.jxspool") + " differs from its copy " + run_.file("rank0.jxspool") +
                          " and was left out; remove one of them"));
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

TEST(RunTime, CountsFromTheFirstStampAndNamesTimesBeforeIt) {
  test::RunFolder folder;
  folder.add_rank(Recording(0, 1, "n0"), 0, 1, "n0");  // from 1 s after the epoch
  const RunSources sources = open_sources(rundir::read_run_directory(folder.path())->runs.at(0));
  const RunTime time(sources);
  EXPECT_EQ(time.words(2 * kSecond + 7'000'000), "00:00:02.007Z, 1.0 s after the run began");
  EXPECT_EQ(time.words(500'000'000), "00:00:00.500Z, 0.5 s before the run began");
  EXPECT_EQ(time.words(-1), "an unknown time");
  EXPECT_EQ(RunTime(RunSources{}).words(0), "00:00:00.000Z");
}

}  // namespace
}  // namespace jaxprof::assembly
