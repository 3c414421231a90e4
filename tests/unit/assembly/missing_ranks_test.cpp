// Which ranks are named as missing, and for what reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/assembled_folder.h"

namespace jaxprof::assembly {
namespace {

using runfile::TaskState;
using test::codes;
using test::findings;
using test::Recording;
using testing::Each;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class MissingRanksTest : public testing::Test {
 protected:
  void add_rank(std::int64_t rank, std::int64_t world_size) {
    run_.add_rank(Recording(rank, world_size, "n0"), rank, world_size, "n0");
  }
  // Rank 0 of three, by a wrapper with `selection`.
  void add_rank0_of_selection(const std::string& selection, bool has_inner_ranks = false) {
    Recording(0, 3).write(run_.path(), "rank0.jxspool");
    TaskStart start = test::task_start(0, has_inner_ranks ? -1 : 3);
    start.selection = selection;
    start.has_inner_ranks = has_inner_ranks;
    run_.add(start);
    run_.add(test::task_end(0));
  }
  void assemble() { assembled_ = run_.assemble(); }
  const runfile::RunTables& tables() const { return assembled_.tables; }

  test::RunFolder run_;
  AssembledRun assembled_;
};

TEST_F(MissingRanksTest, ARankWithoutAnyRecordIsMissing) {
  add_rank(0, 3);
  add_rank(2, 3);
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.missing"),
              ElementsAre("rank 1: left no record in the run directory: it could not be reached, or the task never "
                          "started"));
  EXPECT_THAT(tables().tasks.rank, ElementsAre(0, 2, 1));
  EXPECT_EQ(tables().tasks.state[2], TaskState::kMissingTask);
}

TEST_F(MissingRanksTest, ARankThatWasNotSelectedIsNotMissing) {
  add_rank0_of_selection("--ranks 0");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), IsEmpty());
}

TEST_F(MissingRanksTest, WhereASelectionCannotBeEvaluatedItSaysSo) {
  add_rank0_of_selection("--nodes 0");
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.unknown"), ElementsAre(HasSubstr("2 of 3 ranks left no record")));
}

TEST_F(MissingRanksTest, ARankBehindAWrapperInFrontOfItsLauncherIsMissingToo) {
  add_rank0_of_selection("", true);
  TaskEnd end = test::task_end(0);
  PublishedProcess unselected;
  unselected.rank = 1;
  unselected.state = "not-selected";
  end.processes = {unselected};
  run_.add(end);
  assemble();
  EXPECT_TRUE(assembled_.is_partial);
  EXPECT_THAT(findings(tables(), "rank.missing"),
              ElementsAre(HasSubstr("rank 2: left no record in the run directory: of ranks that the wrapped command "
                                    "itself starts, only those on the wrapper's node are recorded")));
  EXPECT_THAT(findings(tables(), "rank.unknown"), IsEmpty());
}

TEST_F(MissingRanksTest, ASelectionOfRanksBehindALauncherIsEvaluated) {
  add_rank0_of_selection("--ranks 0", true);
  assemble();
  EXPECT_FALSE(assembled_.is_partial);
  EXPECT_THAT(codes(tables()), IsEmpty());
}

TEST_F(MissingRanksTest, RanksBeyondTheWorldSizeAreWhyOthersAreMissing) {
  add_rank(0, 4);
  for (const std::int64_t rank : {4, 5, 6}) add_rank(rank, 4);
  assemble();
  const auto missing = findings(tables(), "rank.missing");
  EXPECT_THAT(missing, SizeIs(3));
  EXPECT_THAT(missing,
              Each(EndsWith(": left no record in the run directory: no task has this number, and ranks 4-6 are "
                            "beyond the world size of 4")));
}

TEST_F(MissingRanksTest, AsManyTasksOfOneRankAsAreMissingAreTheReason) {
  add_rank(0, 3);
  for (const char* task : {"0.n0.7", "0.n0.8"}) {
    TaskStart start = test::task_start(0, 3);
    start.task = task;
    start.is_profiled = false;
    run_.add(start);
  }
  assemble();
  EXPECT_THAT(findings(tables(), "rank.missing"), Each(HasSubstr("no task has this number, and 3 tasks have rank 0")));
  EXPECT_THAT(findings(tables(), "rank.missing"), SizeIs(2));
}

TEST_F(MissingRanksTest, FewerTasksOfOneRankThanAreMissingAreNotTheReason) {
  add_rank(0, 3);
  TaskStart start = test::task_start(-1, 3);
  start.is_profiled = false;
  run_.add(start);
  assemble();
  EXPECT_THAT(findings(tables(), "rank.missing"), Each(HasSubstr("it could not be reached")));
  EXPECT_THAT(findings(tables(), "rank.missing"), SizeIs(2));
}

TEST_F(MissingRanksTest, ATaskThatDoesNotKnowItsRankMayBeTheMissingOne) {
  add_rank(0, 2);
  TaskStart start = test::task_start(-1, 2);
  start.is_profiled = false;
  run_.add(start);
  assemble();
  EXPECT_THAT(findings(tables(), "rank.missing"),
              ElementsAre(EndsWith("no task has this number, and 1 task of unknown rank")));
}

}  // namespace
}  // namespace jaxprof::assembly
