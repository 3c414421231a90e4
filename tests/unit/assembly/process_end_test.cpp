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

// Another rank's window ended the job first, say, while this one still waited for a CUPTI that did not come back.
TEST_F(ProcessEndTest, ADeathAfterTheWindowThatEndsTheJobIsNoRiddle) {
  Recording recorded = recording(0, "n0", 100, 200);
  recorded.set(spool::IdentityKey::kCaptureRangeEnd, std::string("stop-shutdown"));
  recorded.segment(0, true, spool::WindowCause::kStep, 10, 4);
  Recording open = recorded;
  recorded.segment(0, false, spool::WindowCause::kStep, 20, 6);
  const std::string why = ", after its window was over, which ends the job (--capture-range-end stop-shutdown); ";
  Recording saved = recorded;
  saved.save_after_death();
  end_command(saved, true, 15, -1);
  EXPECT_THAT(findings(tables(), "process.died"), ElementsAre(HasSubstr(", by signal 15 (SIGTERM)" + why)));
  end_command(recorded, false, 15, -1, "its memory file is gone");
  EXPECT_THAT(findings(tables(), "spool.cut"), ElementsAre(HasSubstr("by signal 15 (SIGTERM)" + why + "its memory")));
  open.save_after_death();
  end_command(open, true, 15, -1);
  EXPECT_THAT(findings(tables(), "process.died"), ElementsAre(HasSubstr(", by signal 15 (SIGTERM); what")));
  recorded.set(spool::IdentityKey::kCaptureRangeEnd, std::string("repeat-shutdown:2"));
  recorded.save_after_death();
  end_command(recorded, true, 15, -1);
  EXPECT_THAT(findings(tables(), "process.died"), ElementsAre(HasSubstr(", by signal 15 (SIGTERM); what")))
      << "a second opening was to come";
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
