#include "launcher/run_end.h"

#include <gtest/gtest.h>

#include "agent/base/atomic_file.h"
#include "agent/contract/run_layout.h"
#include "launcher/run_marks.h"
#include "tests/unit/base/temp_folder.h"

namespace jaxprof::launcher {
namespace {

class RunEndTest : public testing::Test {
 protected:
  void start(const std::string& task) {
    TaskStart record;
    record.task = task;
    ASSERT_TRUE(
        write_atomic_file(run_layout::task_start_path(folder_.path(), task), to_json(record), Publish::kIfAbsent));
  }
  void end(const std::string& task, std::int64_t rank) {
    TaskEnd record;
    record.task = task;
    record.pid = 1;
    record.processes = {{0, 1, rank, "ended", task + ".jxspool", "", "", 10, 0, 100, "", 1}};
    ASSERT_TRUE(write_end_record(folder_.path(), record));
  }
  std::string last(std::optional<std::int64_t> expected) {
    return last_line_if_last("prof", folder_.path(), expected, [] { return false; });
  }

  test::TempFolder folder_;
};

TEST_F(RunEndTest, TheLastOfAllExpectedTasksSaysItOnce) {
  start("rank0");
  end("rank0", 0);
  EXPECT_EQ(last(2), "") << "rank 1 has not even started";
  start("rank1");
  EXPECT_EQ(last(2), "") << "rank 1 runs";
  end("rank1", 1);
  EXPECT_EQ(last(2), "2 of 2 ranks written, 20 events, 0 dropped; prof/ (200 B)");
  EXPECT_EQ(last(2), "");
}

// Ranks by hand have no job to tell their runs apart: JAXPROF_RUN, or nothing but RANK and WORLD_SIZE.
TEST_F(RunEndTest, EachRunOfOneNameHasALastLineOfItsOwn) {
  for (const char* task : {"rank0", "rank1"}) {
    start(task);
    end(task, task[4] - '0');
  }
  EXPECT_EQ(last(2), "2 of 2 ranks written, 20 events, 0 dropped; prof/ (200 B)");
  for (const std::string run : {".n1.70", ".n1.80"}) {
    start("rank0" + run);
    EXPECT_EQ(last(2), "") << "it runs";
    end("rank0" + run, 0);
    EXPECT_EQ(last(2), "") << "its rank 1 has not even started";
    start("rank1" + run);
    end("rank1" + run, 1);
    EXPECT_EQ(last(2), "2 of 2 ranks written, 20 events, 0 dropped; prof/ (200 B)") << "of this run alone";
    EXPECT_EQ(last(2), "");
  }
}

TEST_F(RunEndTest, AnUnprofiledTaskIsNotWaitedFor) {
  start("rank0");
  start("rank1");
  EXPECT_TRUE(make_mark(run_layout::unprofiled_mark_path(folder_.path(), "rank1")));
  end("rank0", 0);
  EXPECT_EQ(last(2), "1 of 2 ranks written, 10 events, 0 dropped; prof/ (100 B)");
}

TEST_F(RunEndTest, RanksOfCommandsAreNotCountedAsTasks) {
  start("rank0");
  end("rank0", 0);
  EXPECT_TRUE(make_mark(run_layout::mark_path(folder_.path(), run_layout::kUnforeseenRanks)));
  EXPECT_EQ(last(1), "1 rank written, 10 events, 0 dropped; prof/ (100 B)");
}

TEST_F(RunEndTest, WithoutAKnownNumberTheStartedTasksCount) {
  start("rank0");
  start("rank1");
  end("rank0", 0);
  EXPECT_EQ(last(std::nullopt), "");
  end("rank1", 1);
  EXPECT_EQ(last(std::nullopt), "2 ranks written, 20 events, 0 dropped; prof/ (200 B)");
}

TEST_F(RunEndTest, NothingIsSaidWhenTimeIsUp) {
  start("rank0");
  end("rank0", 0);
  EXPECT_EQ(last_line_if_last("prof", folder_.path(), 1, [] { return true; }), "");
}

}  // namespace
}  // namespace jaxprof::launcher
