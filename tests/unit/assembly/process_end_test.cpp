// What ended a process, as far as its wrapper knows.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/assembly/findings_case.h"

namespace jaxprof::assembly {
namespace {

using test::findings;
using test::FindingsTest;
using test::Recording;
using testing::ElementsAre;
using testing::HasSubstr;

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

}  // namespace
}  // namespace jaxprof::assembly
