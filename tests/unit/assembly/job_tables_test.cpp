// What a run directory lacks, and how the merge names it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using runfile::TaskState;
using test::codes;
using test::findings;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class JobTablesTest : public testing::Test {
 protected:
  // Rank 0 of a job of `world_size`, whole.
  void add_rank0(std::int64_t world_size = 1) { run_.add_rank(Recording(0, world_size, "n0"), 0, world_size, "n0"); }
  void assemble() { assembled_ = run_.assemble(); }
  const runfile::RunTables& tables() const { return assembled_.tables; }
  std::string reason(std::size_t task) const { return std::string(tables().strings.text(tables().tasks.reason[task])); }

  test::RunFolder run_;
  AssembledRun assembled_;
};

TEST_F(JobTablesTest, AWholeRunHasNothingToSay) {
  add_rank0(2);
  run_.add_rank(Recording(1, 2, "n1"), 1, 2, "n1");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), IsEmpty());
  EXPECT_EQ(tables().attributes.run_id, "7.0.0");
  EXPECT_EQ(tables().attributes.world_size, 2u);
  EXPECT_EQ(tables().attributes.n_nodes, 2u);
  EXPECT_EQ(tables().attributes.cmdline, "python train.py");
  EXPECT_THAT(tables().tasks.state, ElementsAre(TaskState::kProfiled, TaskState::kProfiled));
  EXPECT_THAT(tables().processes.rank, ElementsAre(0, 1));
  EXPECT_THAT(tables().processes.task, ElementsAre(0u, 1u));
  EXPECT_THAT(tables().processes.node, ElementsAre(0u, 1u));
  EXPECT_THAT(tables().processes.is_complete, ElementsAre(1, 1));
}

// Wrappers that are process 1 of their own containers on one node.
TEST_F(JobTablesTest, TasksOfContainersOnOneNodeAreToldApart) {
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Recording recording(rank, 2, "n0");
    recording.set(spool::IdentityKey::kWrapperPid, std::int64_t{1});
    recording.set(spool::IdentityKey::kTask, std::to_string(rank));
    run_.add_rank(recording, rank, 2, "n0");
    TaskStart start = test::task_start(rank, 2, "n0");
    start.pid = 1;
    run_.add(start);
  }
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), IsEmpty());
  EXPECT_THAT(tables().tasks.state, ElementsAre(TaskState::kProfiled, TaskState::kProfiled));
  EXPECT_THAT(tables().processes.task, ElementsAre(0u, 1u));
}

TEST_F(JobTablesTest, PodsOfOneNodeAreToldApartInOlderSpoolsByTheirHosts) {
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    const std::string host = "train-" + std::to_string(rank);
    Recording recording(rank, 2, host);
    recording.set(spool::IdentityKey::kWrapperPid, std::int64_t{1});
    recording.set(spool::IdentityKey::kBootId, std::string("one-boot"));
    run_.add_rank(recording, rank, 2, host);
    TaskStart start = test::task_start(rank, 2, host);
    start.pid = 1;
    start.boot_id = "one-boot";
    run_.add(start);
  }
  assemble();
  EXPECT_THAT(codes(tables()), IsEmpty());
  EXPECT_THAT(tables().processes.task, ElementsAre(0u, 1u));
  EXPECT_EQ(tables().attributes.n_nodes, 1u);
}

TEST_F(JobTablesTest, AnUnprofiledTaskBringsItsReason) {
  add_rank0(2);
  TaskStart start = test::task_start(1, 2);
  start.is_profiled = false;
  start.reason = "another tool is loaded";
  run_.add(start);
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.unprofiled"), ElementsAre("rank 1 on n0: another tool is loaded"));
  EXPECT_EQ(tables().tasks.state[1], TaskState::kUnprofiled);
}

TEST_F(JobTablesTest, ATaskThatNeverEndedIsOnItsNode) {
  add_rank0(2);
  run_.add(test::task_start(1, 2, "n1"));
  assemble();
  EXPECT_THAT(
      findings(tables(), "rank.missing"),
      ElementsAre(HasSubstr("its wrapper ended before it could publish; what it recorded is on n1 in /spool/1")));
}

TEST_F(JobTablesTest, AnEndWithoutASpoolSaysWhatBecameOfIt) {
  add_rank0(6);
  const auto add = [this](std::int64_t rank, PublishedProcess process, const std::string& note = "") {
    run_.add(test::task_start(rank, 6));
    TaskEnd end = test::task_end(rank);
    if (!process.state.empty()) end.processes = {process};
    if (!note.empty()) end.notes = {note};
    run_.add(end);
  };
  PublishedProcess kept;
  kept.state = "ended";
  kept.kept = "/tmp/slot0";
  kept.note = "disk full";
  add(1, kept);
  PublishedProcess gone;
  gone.state = "ended";
  gone.spool = "rank2.jxspool";
  add(2, gone);
  PublishedProcess failed;
  failed.state = "failed";
  failed.note = "cannot make the spool: errno 13";
  add(3, failed);
  PublishedProcess unselected;
  unselected.state = "not-selected";
  add(4, unselected);
  add(5, {}, "nothing in it uses CUDA, NVTX or NCCL");
  assemble();
  EXPECT_THAT(tables().tasks.state, ElementsAre(TaskState::kProfiled, TaskState::kMissingTask, TaskState::kMissingTask,
                                                TaskState::kFailed, TaskState::kUnprofiled, TaskState::kNoAgent));
  EXPECT_EQ(reason(1), "not published: disk full; it is on n0 in /tmp/slot0");
  EXPECT_EQ(reason(2), "rank2.jxspool was published and is gone or unreadable");
  EXPECT_EQ(reason(3), "cannot make the spool: errno 13");
  EXPECT_EQ(reason(4), "no rank of it is selected");
  EXPECT_EQ(reason(5), "nothing in it uses CUDA, NVTX or NCCL");
  EXPECT_THAT(codes(tables()), ElementsAre("rank.failed", "rank.missing", "rank.missing", "rank.no-agent"));
  EXPECT_TRUE(assembled_.is_partial);
}

TEST_F(JobTablesTest, ExitAndSignalAreTheTasksOwn) {
  add_rank0();
  TaskEnd end = test::task_end(0);
  end.exit_code = -1;
  end.signal = 9;
  run_.add(end);
  assemble();
  EXPECT_EQ(tables().tasks.exit_code[0], 137);
  EXPECT_EQ(tables().tasks.signal[0], 9);
}

TEST_F(JobTablesTest, ACutSpoolIsPartialAndCounts) {
  add_rank0();
  Recording recording;
  recording.push(1, 0, 0, "range", 50);
  recording.drop(Drop::kRingFull, 12);
  recording.write(run_.path(), "rank0.jxspool", false);
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), ElementsAre("drop.ring-full", "nvtx.never-ended", "spool.cut"));
  EXPECT_EQ(tables().processes.is_complete[0], 0);
  EXPECT_EQ(tables().processes.n_events[0], 1u);
  EXPECT_EQ(tables().processes.n_dropped[0], 12u);
  EXPECT_EQ(tables().attributes.n_dropped, 12u);
}

TEST_F(JobTablesTest, OfTwoCopiesOfASpoolTheCompleteOneCounts) {
  for (const char* copy : {"rank9.jxspool", "a.jxspool"}) {
    add_rank0();
    Recording().write(run_.path(), copy, false);
    assemble();
    EXPECT_TRUE(assembled_.is_partial);
    EXPECT_THAT(codes(tables()), ElementsAre("spool.duplicate"));
    EXPECT_THAT(findings(tables(), "spool.duplicate"),
                ElementsAre(run_.file(copy) + " differs from its copy " + run_.file("rank0.jxspool") +
                            " and was left out; remove one of them"));
    EXPECT_EQ(runfile::n_rows(tables().processes), 1u);
    EXPECT_EQ(tables().attributes.n_processes, 1u);
    std::filesystem::remove(run_.file(copy));
  }
}

TEST_F(JobTablesTest, OfTwoCutCopiesTheLongerOneCounts) {
  add_rank0();
  const std::string bytes = Recording().bytes(false);
  test::write_file(run_.file("rank0.jxspool"), bytes);
  test::write_file(run_.file("rank9.jxspool"), bytes + "torn");
  assemble();
  EXPECT_THAT(findings(tables(), "spool.duplicate"), ElementsAre(HasSubstr("rank0.jxspool differs from its copy")));
}

TEST_F(JobTablesTest, ADeathWhoseRecordsWereSavedIsComplete) {
  Recording recording;
  recording.save_after_death();
  run_.add_rank(recording, 0, 1, "n0");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "process.died"),
              ElementsAre(HasSubstr("ended without its exit handlers (killed, _exit or exec)")));
  EXPECT_EQ(tables().diagnostics.severity.at(0), runfile::Severity::kInfo);
  EXPECT_EQ(tables().processes.is_complete[0], 1);
}

TEST_F(JobTablesTest, ACopyThatLostItsEndIsNotAKilledProcess) {
  add_rank0();
  const std::string bytes = Recording().bytes();
  test::write_file(run_.file("rank0.jxspool"), bytes.substr(0, bytes.size() - 7));
  TaskEnd end = test::task_end(0);
  PublishedProcess process;
  process.state = "ended";
  process.spool = "rank0.jxspool";
  process.bytes = static_cast<std::int64_t>(bytes.size());
  end.processes = {process};
  run_.add(end);
  assemble();
  EXPECT_THAT(codes(tables()), ElementsAre("spool.short", "spool.torn"));
  EXPECT_THAT(findings(tables(), "spool.short"),
              ElementsAre(HasSubstr("was published with " + std::to_string(bytes.size()) + " bytes and has ")));
}

TEST_F(JobTablesTest, PidAndExitAreThoseOfTheCommand) {
  add_rank0();
  Recording child;
  child.set(spool::IdentityKey::kPid, std::int64_t{2000});
  child.write(run_.path(), "rank0.n0.2000.jxspool");
  TaskEnd end = test::task_end(0);
  end.pid = 1000;
  end.exit_code = 3;
  run_.add(end);
  assemble();
  EXPECT_THAT(tables().tasks.pid, ElementsAre(1000));
  EXPECT_THAT(tables().processes.pid, ElementsAre(1000, 2000));
  EXPECT_THAT(tables().processes.exit, ElementsAre(3, runfile::kNoNumber));
}

TEST_F(JobTablesTest, APidThatNobodyToldIsMissing) {
  add_rank0();
  assemble();
  EXPECT_THAT(tables().tasks.pid, ElementsAre(-1));
  EXPECT_THAT(tables().processes.exit, ElementsAre(runfile::kNoNumber));
  EXPECT_THAT(tables().processes.nccl_version, ElementsAre(runfile::kNoIndex));
}

TEST_F(JobTablesTest, DamageIsCountedByKind) {
  add_rank0();
  Recording recording;
  recording.push(1, 0, 0, "range", 50);
  std::string bytes = recording.bytes();
  bytes[bytes.find("range")] ^= 1;  // the state block
  test::write_file(run_.file("rank0.jxspool"), bytes + "torn");
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), ElementsAre("nvtx.never-ended", "spool.damaged", "spool.lost-blocks", "spool.torn"));
  EXPECT_EQ(tables().strings.text(tables().nvtx.name.at(0)), "(lost string)");
}

TEST_F(JobTablesTest, AnUnreadableSpoolIsListed) {
  add_rank0(2);
  run_.add(test::task_start(1, 2));
  TaskEnd end = test::task_end(1);
  PublishedProcess process;
  process.state = "ended";
  process.spool = "rank1.jxspool";
  end.processes = {process};
  run_.add(end);
  test::write_file(run_.file("rank1.jxspool"), "garbage");
  assemble();
  EXPECT_THAT(findings(tables(), "rank.missing"), ElementsAre(HasSubstr("rank1.jxspool was published and is gone")));
}

TEST_F(JobTablesTest, TheLauncherIsWhatStartedTheRanks) {
  for (std::int64_t rank = 0; rank < 2; ++rank) {
    Recording recording(rank, 2, "n0");
    recording.set(spool::IdentityKey::kLauncher, std::string("torchrun"));
    recording.write(run_.path(), "rank" + std::to_string(rank) + ".jxspool");
  }
  TaskStart start = test::task_start(0, -1);
  start.launcher = "unknown";
  start.has_inner_ranks = true;
  run_.add(start);
  assemble();
  EXPECT_EQ(tables().attributes.launcher, "torchrun");
  Recording(2, 2, "n1").write(run_.path(), "rank2.jxspool");
  assemble();
  EXPECT_EQ(tables().attributes.launcher, "unknown") << "the processes do not agree";
}

TEST_F(JobTablesTest, SpoolsAloneMakeARun) {
  Recording(1, 2, "n1").write(run_.path(), "b.jxspool");
  Recording(0, 2, "n0").write(run_.path(), "a.jxspool");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_EQ(tables().attributes.job_id, "7");
  EXPECT_EQ(tables().attributes.world_size, 2u);
  EXPECT_THAT(tables().processes.task, ElementsAre(runfile::kNoIndex, runfile::kNoIndex));
}

TEST_F(JobTablesTest, AStepOfTheClockIsReportedOnItsNode) {
  for (const char* boot_id : {"boot-of-n1", ""}) {
    constexpr std::int64_t kSecond = 1'000'000'000;
    Recording recording(1, 2, "n1");
    recording.set(spool::IdentityKey::kBootId, std::string(boot_id));
    recording.anchor({0, 0, 100 * kSecond, 0, 10});
    recording.anchor({kSecond, kSecond, 111 * kSecond, kSecond, 10});
    recording.write(run_.path(), "b.jxspool");
    Recording(0, 2, "n0").write(run_.path(), "a.jxspool");
    assemble();
    EXPECT_THAT(findings(tables(), "clock.step"),
                ElementsAre(HasSubstr("node n1: the wall clock was set by 10000000000 ns")))
        << boot_id;
    EXPECT_EQ(tables().diagnostics.node.back(), 1u);
  }
}

TEST_F(JobTablesTest, AWorldSizeThatCannotBeIsUnknown) {
  Recording recording(0, 2'000'000'000, "n0");
  recording.write(run_.path(), "a.jxspool");
  assemble();
  EXPECT_EQ(tables().attributes.world_size, 0u);
  EXPECT_EQ(runfile::n_rows(tables().tasks), 0u);
  EXPECT_THAT(findings(tables(), "run.world-size"), ElementsAre(HasSubstr("a world size of 2000000000 cannot be")));
}

}  // namespace
}  // namespace jaxprof::assembly
