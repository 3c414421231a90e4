// Names of files and ranks: taken, claimed, twice, unset, or none; and what is said of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "tests/unit/launcher/jaxprof_exec_case.h"

namespace jaxprof::launcher {
namespace {

using test::Outcome;
using test::ProgramRun;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

TEST_F(JaxprofExec, ATakenNameIsNotedAndLeftAlone) {
  be_rank(0, 1);
  std::filesystem::create_directories(folder_.file("prof"));
  std::ofstream(folder_.file("prof/rank0.jxspool")) << "theirs";
  const Outcome outcome = run_shell("true");
  EXPECT_THAT(outcome.err, HasSubstr("prof/rank0.jxspool is taken, this rank writes to rank0.HOST.PID.jxspool"));
  EXPECT_TRUE(start_record("rank0").is_profiled);
  EXPECT_THAT(start_record("rank0").notes.at(0), HasSubstr("is taken"));
  EXPECT_EQ(*read_small_file(folder_.file("prof/rank0.jxspool")), "theirs");
}

TEST_F(JaxprofExec, RanksOfOneRunThatCollideAreToldWhatToDo) {
  be_rank(0, 3);
  EXPECT_THAT(run({"-o", "prof/same", "true"}).err, Not(HasSubstr("is taken")));
  std::ofstream(folder_.file("prof/same.jxspool")) << "rank 0's";
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "1");
  EXPECT_THAT(run({"-f", "-o", "prof/same", "true"}).err,
              AllOf(HasSubstr("same.jxspool is taken, "), HasSubstr("; put %r into the name")));
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "2");
  const std::vector<std::string> third = {"-f", "-o", "prof/%q{NONE:-same}", "true"};
  EXPECT_THAT(run(third).err, Not(HasSubstr("is taken"))) << "one line for all";
  std::filesystem::remove(state() + "/said.taken");
  EXPECT_THAT(run(third).err, HasSubstr("; put %r into the name"));
}

TEST_F(JaxprofExec, ANameThatIsClaimedButNotWrittenToIsNotSaidToBeAFileOfOld) {
  be_rank(0, 1);
  std::filesystem::create_directories(folder_.file("prof"));
  std::ofstream(folder_.file("prof/rank0.jxspool.part")).flush();
  EXPECT_THAT(run_shell("true").err, HasSubstr("; another task has claimed it just now, or one that was killed"));
}

TEST_F(JaxprofExec, TasksOfOneRankSayTheFirstLineOnceAndWhatToldTheRank) {
  be_rank(0, 3);
  const std::vector<std::string> arguments = {
      "-o", "prof/rank%r", "sh", "-c", "echo up >up.$$; while [ $(ls | grep -c '^up') -lt 3 ]; do sleep 0.01; done"};
  std::vector<std::unique_ptr<ProgramRun>> tasks;
  for (int i = 0; i < 3; ++i) {
    tasks.push_back(std::make_unique<ProgramRun>(folder_.path(), arguments, environment_));
  }
  std::string err;
  for (auto& task : tasks) err += task->wait().err;
  const auto count = [&err](const std::string& text) {
    std::size_t times = 0;
    for (std::size_t at = 0; (at = err.find(text, at)) != std::string::npos; at += text.size()) ++times;
    return times;
  };
  EXPECT_EQ(count("3 of 3 ranks traced"), 1u) << err;
  EXPECT_EQ(count("two tasks of the run take themselves for rank 0, by JAXPROF_RANK: "), 1u) << err;
  EXPECT_EQ(count("put %r"), 0u) << err;
}

TEST_F(JaxprofExec, ARunOfTheSameNameAsAnEarlierOneSpeaksToo) {
  be_rank(0, 1);
  EXPECT_THAT(run_shell("true").err, HasSubstr("1 of 1 ranks traced"));
  const Outcome second = run_shell("true");
  EXPECT_THAT(second.err, HasSubstr("1 of 1 ranks traced"));
  EXPECT_THAT(second.err, Not(HasSubstr("two tasks")));
}

TEST_F(JaxprofExec, StrictRefusesARankThatIsInDoubtSelectedOrNot) {
  be_rank(1, 2);
  set("MYR", "x");
  for (const char* selected : {"0", "1"}) {
    const Outcome outcome =
        run({"--strict", "--rank-from", "MYR", "--ranks", selected, "-o", "prof/rank%r", "echo", "ran"});
    EXPECT_EQ(outcome.exit_code, 125) << selected;
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("refuses to start (--strict): --rank-from names MYR=x: no rank"));
  }
}

TEST_F(JaxprofExec, ARankByHandThatIsNoneIsSaid) {
  set("JAXPROF_RANK", "x");
  const Outcome outcome = run_shell("exit 7");
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.err, HasSubstr("JAXPROF_RANK=x is not a rank"));
}

TEST_F(JaxprofExec, AnUnsetVariableIsSaidOncePerRun) {
  be_rank(0, 2);
  const std::vector<std::string> arguments = {"-o", "prof/rank%r.%q{NOT_SET}", "true"};
  EXPECT_THAT(run(arguments).err,
              HasSubstr("--output names NOT_SET, which is not set or empty: it becomes unset-NOT_SET"));
  unset("JAXPROF_RANK");
  set("JAXPROF_RANK", "1");
  EXPECT_THAT(run(arguments).err, Not(HasSubstr("NOT_SET, which")));
  EXPECT_THAT(start_record("rank1").notes.at(0), HasSubstr("NOT_SET"));
}

TEST_F(JaxprofExec, ANameThatIsNoneIsSettledBeforeTheJobStarts) {
  be_rank(0, 1);
  set("DOTS", "..");
  EXPECT_THAT(run({"-o", "prof/%q{DOTS}", "true"}).err,
              HasSubstr("--output prof/%q{DOTS} gives no name for a file: it is named after its rank"));
  EXPECT_EQ(start_record("rank0").stem, "rank0");
}

}  // namespace
}  // namespace jaxprof::launcher
