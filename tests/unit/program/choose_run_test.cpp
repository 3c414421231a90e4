// Which run of a directory a merge is about, and what is said of the others.
#include "merge/program/choose_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace jaxprof::merge {
namespace {

using testing::HasSubstr;

class ChooseRunTest : public testing::Test {
 protected:
  ChooseRunTest() { directory_.path = "prof"; }
  rundir::FoundRun& add(const std::string& id, std::size_t n_tasks, std::vector<std::string> spools) {
    rundir::FoundRun& run = directory_.runs.emplace_back();
    run.run_id = id;
    run.tasks.resize(n_tasks);
    run.spools = std::move(spools);
    return run;
  }
  std::string refusal(ErrorCode code, const std::string& wanted = "") {
    const auto chosen = choose_run(directory_, wanted);
    if (chosen) return "no error";
    EXPECT_EQ(chosen.error().code, code);
    return chosen.error().message;
  }

  rundir::RunDirectory directory_;
};

TEST_F(ChooseRunTest, TakesTheOnlyOneWithTheUnreadableSpools) {
  add("7.0.0", 1, {});
  directory_.unreadable_spools = {{"a", "a is empty"}};
  const auto chosen = choose_run(directory_, "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->run.unreadable_records.size(), 1u);
  EXPECT_EQ(chosen->note, "");
}

TEST_F(ChooseRunTest, TakesTheOnlyOneThatHasSpoolsAndNamesTheOthers) {
  add("7.0.0", 2, {});
  add("7.1.0", 2, {"a", "b"});
  add("7.2.0", 2, {});
  const auto chosen = choose_run(directory_, "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->run.run_id, "7.1.0");
  EXPECT_EQ(chosen->note, "runs 7.0.0, 7.2.0 left no spool here: replaced or lost; this is run 7.1.0");
  directory_.runs.pop_back();
  EXPECT_THAT(choose_run(directory_, "")->note, testing::StartsWith("run 7.0.0 left no spool here"));
}

TEST_F(ChooseRunTest, KnowsASpoolThatWasCopiedHere) {
  add("7.0.0", 2, {"a", "b"});
  add("9.0.0", 0, {"c"});
  const auto chosen = choose_run(directory_, "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->run.run_id, "7.0.0");
  EXPECT_THAT(chosen->run.foreign_spools, testing::ElementsAre("c"));
  EXPECT_EQ(chosen->note, "");
  EXPECT_TRUE(choose_run(directory_, "7.0.0")->run.foreign_spools.empty()) << "who names a run knows of others";
}

TEST_F(ChooseRunTest, WhereOnlyNodesWereObservedNothingIsLost) {
  add("7.0.0", 1, {"a"});
  add("8.0.0", 0, {}).node_spools = {"n1", "n2"};
  const auto chosen = choose_run(directory_, "");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->run.run_id, "7.0.0");
  EXPECT_EQ(chosen->note, "");
  directory_.runs.erase(directory_.runs.begin());
  add("9.0.0", 0, {}).node_spools = {"n1"};
  EXPECT_THAT(refusal(ErrorCode::kUsage), HasSubstr("--run: 8.0.0 (2 spools of nodes), 9.0.0 (1 spool of nodes)"));
  EXPECT_EQ(choose_run(directory_, "9.0.0")->run.node_spools.size(), 1u);
}

TEST_F(ChooseRunTest, TakesTheOneThatIsNamed) {
  add("7.0.0", 2, {});
  add("7.1.0", 2, {"a"});
  const auto chosen = choose_run(directory_, "7.0.0");
  ASSERT_TRUE(chosen);
  EXPECT_EQ(chosen->run.run_id, "7.0.0");
  EXPECT_EQ(chosen->note, "");
  EXPECT_EQ(refusal(ErrorCode::kUsage, "8.0.0"),
            "no run 8.0.0 in prof; there are 7.0.0 (2 tasks, 0 spools), 7.1.0 (2 tasks, 1 spool)");
}

TEST_F(ChooseRunTest, DoesNotGuessAmongSeveral) {
  add("7.0.0", 1, {"a"});
  add("7.1.0", 1, {"b"});
  EXPECT_THAT(refusal(ErrorCode::kUsage), HasSubstr("several runs; choose one with --run:"));
  directory_.runs[0].spools.clear();
  directory_.runs[1].spools.clear();
  EXPECT_THAT(refusal(ErrorCode::kUsage), HasSubstr("several runs; choose one with --run:"));
}

TEST_F(ChooseRunTest, RefusesARunThatLeftNothing) {
  EXPECT_THAT(
      (directory_.unreadable_spools = {{"a", "a is empty"}, {"b", "b is empty"}}, refusal(ErrorCode::kInputUnreadable)),
      HasSubstr("no spool in prof can be read: a is empty (and 1 more)"));
  add("7.0.0", 0, {}).unreadable_records = {{"r", "r: cut"}};
  EXPECT_THAT(refusal(ErrorCode::kInputUnreadable), HasSubstr("holds nothing of run 7.0.0: r: cut"));
}

}  // namespace
}  // namespace jaxprof::merge
