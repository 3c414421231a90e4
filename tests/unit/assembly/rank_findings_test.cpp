// Two tasks with one rank, and ranks that were started again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using runfile::Severity;
using spool::IdentityKey;
using test::codes;
using test::findings;
using test::Recording;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kSecond = 1'000'000'000;

class RankFindingsTest : public testing::Test {
 protected:
  // A process of rank `rank` of two, of the task `task` on `host`, from second `from` to second `to` of the wall clock.
  Recording recording(const std::string& task, std::int64_t rank, const std::string& host, std::int64_t from,
                      std::int64_t to) {
    Recording recorded(rank, 2, host);
    recorded.set(IdentityKey::kTask, task);
    recorded.set_file_id(++n_spools_);
    const auto length = static_cast<std::uint64_t>((to - from) * kSecond);
    // Monotonic clocks of one node have one origin.
    const auto begin = static_cast<std::uint64_t>(from * kSecond);
    recorded.anchor({begin, from * kSecond, from * kSecond, from * kSecond, 10});
    recorded.anchor({begin + length, to * kSecond, to * kSecond, to * kSecond, 10});
    return recorded;
  }
  void add(const Recording& recorded) { recorded.write(run_.path(), "s" + std::to_string(n_spools_) + ".jxspool"); }
  void add_task(const std::string& task, std::int64_t rank, const std::string& host, std::int64_t from, std::int64_t to,
                bool has_inner_ranks = false) {
    TaskStart start = test::task_start(rank, 2, host);
    start.task = task;
    start.realtime_ns = from * kSecond;
    start.has_inner_ranks = has_inner_ranks;
    run_.add(start);
    TaskEnd end;
    end.task = task;
    end.exit_code = 0;
    end.realtime_ns = to * kSecond;
    run_.add(end);
  }
  std::string spool(int number) const { return run_.path() + "/s" + std::to_string(number) + ".jxspool"; }
  void assemble() { assembled_ = run_.assemble(); }
  const runfile::RunTables& tables() const { return assembled_.tables; }

  test::RunFolder run_;
  AssembledRun assembled_;
  std::uint64_t n_spools_ = 0;
};

TEST_F(RankFindingsTest, OneRankOnTwoNodesAtOnceIsAnError) {
  add(recording("a", 0, "n0", 100, 200));
  add(recording("b", 0, "n1", 150, 250));
  add(recording("c", 1, "n1", 150, 250));
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.duplicate"),
              ElementsAre("two tasks had rank 0, on n0 (" + spool(1) +
                          ") from 00:01:40.000Z, 0.0 s after the run began, to 00:03:20.000Z, 100.0 s after the run "
                          "began and at the same time on n1 (" +
                          spool(2) +
                          ") from 00:02:30.000Z, 50.0 s after the run began, to 00:04:10.000Z, 150.0 s after the run "
                          "began: two ranks have one number, or two runs one name; SLURM_PROCID told both; "
                          "JAXPROF_RANK and JAXPROF_WORLD_SIZE override it, JAXPROF_RUN tells runs apart"));
}

TEST_F(RankFindingsTest, OneRankOfTwoTasksOfANodeIsAnErrorToo) {
  add(recording("a", 0, "n0", 100, 200));
  add(recording("b", 0, "n0", 150, 250));
  add(recording("c", 1, "n0", 100, 250));
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.duplicate"),
              ElementsAre(AllOf(HasSubstr("had rank 0, on n0 (" + spool(1)), HasSubstr("on n0 (" + spool(2)))));
}

TEST_F(RankFindingsTest, TasksAtOnceAreAnErrorHoweverShortTheirProcessesAre) {
  add_task("a", 0, "n0", 100, 200);
  add_task("b", 0, "n0", 101, 201);
  add(recording("a", 0, "n0", 110, 120));
  add(recording("b", 0, "n0", 130, 140));
  add(recording("c", 1, "n0", 110, 120));
  assemble();
  EXPECT_THAT(findings(tables(), "rank.duplicate").size(), 1u);
  EXPECT_THAT(findings(tables(), "rank.repeated"), IsEmpty());
}

// A task's end record is written after its processes have ended, and publishing takes its time.
TEST_F(RankFindingsTest, ATaskThatBeganWhileAnotherPublishedCameAfterIt) {
  add_task("a", 0, "n0", 99, 215);
  add_task("b", 0, "n1", 209, 300);
  add(recording("a", 0, "n0", 100, 200));
  add(recording("b", 0, "n1", 210, 290));
  add(recording("c", 1, "n0", 100, 290));
  assemble();
  EXPECT_THAT(findings(tables(), "rank.duplicate"), IsEmpty());
  EXPECT_THAT(findings(tables(), "rank.repeated").size(), 1u);
}

TEST_F(RankFindingsTest, ProcessesOfOneTaskMayShareItsRank) {
  add(recording("a", 0, "n0", 100, 200));
  add(recording("a", 0, "n0", 110, 190));
  add(recording("a", 0, "n0", 210, 220));
  add(recording("b", 1, "n0", 100, 220));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), ElementsAre("task.no-record", "task.no-record"));
}

TEST_F(RankFindingsTest, TasksOfOneRankAfterEachOtherMayBeTwoRuns) {
  add_task("a", 0, "n0", 99, 201);
  add_task("b", 0, "n0", 300, 401);
  add(recording("a", 0, "n0", 100, 200));
  add(recording("b", 0, "n0", 300, 400));
  add(recording("c", 1, "n0", 100, 400));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.duplicate"), IsEmpty());
  EXPECT_THAT(findings(tables(), "rank.repeated"),
              ElementsAre(AllOf(HasSubstr("and later on n0 (" + spool(2)),
                                HasSubstr(": it was started again, or two runs had one name, and JAXPROF_RUN tells "
                                          "them apart"))));
}

TEST_F(RankFindingsTest, WhatToldTheRankIsNamedAndWhatOverridesIt) {
  const auto add_pair = [this](const char* launcher, const char* variable, const char* other) {
    for (const char* own : {variable, other}) {
      Recording recorded = recording(own == variable ? "a" : "b", 0, "n0", 100, 200);
      recorded.set(IdentityKey::kLauncher, std::string(launcher));
      recorded.set(IdentityKey::kRankVariable, std::string(own));
      add(recorded);
      if (other == variable) {
        recorded.set(IdentityKey::kTask, std::string("b"));
        recorded.set_file_id(++n_spools_);
        add(recorded);
        break;
      }
    }
    assemble();
    n_spools_ = 0;
    return findings(tables(), "rank.duplicate").at(0);
  };
  EXPECT_THAT(add_pair("torchrun", "RANK", "PMI_RANK"),
              HasSubstr("; RANK told the one and PMI_RANK the other; JAXPROF_RANK and JAXPROF_WORLD_SIZE override it"));
  EXPECT_THAT(
      add_pair("JAXPROF_RANK", "JAXPROF_RANK", "JAXPROF_RANK"),
      AllOf(HasSubstr("; JAXPROF_RANK told both, and must differ from rank to rank"), Not(HasSubstr("override"))));
  EXPECT_THAT(add_pair("--rank-from", "MY_RANK", "MY_RANK"),
              HasSubstr("; MY_RANK (--rank-from) told both, and must differ from rank to rank"));
}

TEST_F(RankFindingsTest, WorkersThatWereStartedAgainAreOneNote) {
  add_task("a", 0, "n0", 99, 401, true);
  for (const std::int64_t rank : {0, 1}) {
    add(recording("a", rank, "n0", 100, 200));
    add(recording("a", rank, "n0", 150, 160));  // a process of the worker's own
    add(recording("a", rank, "n0", 300, 400));
  }
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), ElementsAre("rank.restarted"));
  EXPECT_THAT(findings(tables(), "rank.restarted"), ElementsAre(HasSubstr("ranks 0-1 of a task that starts ranks")));
  EXPECT_EQ(tables().diagnostics.severity.at(0), Severity::kInfo);
}

TEST_F(RankFindingsTest, AWorkerThatComesBackUnderAnotherLauncherIsAWarning) {
  add_task("a", 0, "n0", 99, 401, true);
  add_task("b", 1, "n1", 99, 401, true);
  add(recording("a", 0, "n0", 100, 200));
  add(recording("b", 0, "n1", 300, 400));
  add(recording("a", 1, "n0", 100, 400));
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.repeated"),
              ElementsAre(HasSubstr("it was started again there, or two launchers both count from 0")));
}

}  // namespace
}  // namespace jaxprof::assembly
