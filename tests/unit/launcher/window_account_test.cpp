#include "launcher/window_account.h"

#include <gtest/gtest.h>

namespace jaxprof::launcher {
namespace {

WindowPlan steps() {
  WindowPlan plan;
  EXPECT_EQ(parse_capture_range("steps:200-240", &plan), nullptr);
  return plan;
}

PublishedProcess process(std::int64_t rank, const char* window, std::int64_t segments) {
  PublishedProcess process;
  process.rank = rank;
  process.spool = "x.jxspool";
  process.window = window;
  process.segments = segments;
  return process;
}

std::string account(const std::vector<PublishedProcess>& processes, const WindowPlan& plan = steps()) {
  TaskEnd end;
  end.processes = processes;
  return describe_windows({end}, plan);
}

TEST(DescribeWindows, CountsRanksByWhatBecameOfTheWindow) {
  EXPECT_EQ(account({process(0, "done", 1), process(1, "done", 1)}), "; window 200-240 closed on 2 of 2 ranks");
  EXPECT_EQ(account({process(0, "done", 1), process(1, "open", 1), process(2, "armed", 0)}),
            "; window 200-240 closed on 1 of 3 ranks, still open at the end on 1, never opened on 1");
  EXPECT_EQ(account({process(0, "armed", 2)}), "; window 200-240 closed on 1 of 1 ranks") << "of a window that repeats";
  EXPECT_EQ(account({process(0, "armed", 0), process(1, "armed", 0)}),
            "; window 200-240 never opened on any of 2 ranks");
}

TEST(DescribeWindows, ARankCountsByItsFurthestProcess) {
  EXPECT_EQ(account({process(0, "armed", 0), process(0, "done", 1), process(0, "open", 1)}),
            "; window 200-240 closed on 1 of 1 ranks");
  EXPECT_EQ(account({process(-1, "done", 1), process(-1, "open", 1)}),
            "; window 200-240 closed on 1 of 2 processes, still open at the end on 1");
}

TEST(DescribeWindows, SaysNothingWhereThereIsNothingToSay) {
  EXPECT_EQ(account({process(0, "", 1)}, WindowPlan{}), "");
  PublishedProcess unwritten = process(0, "armed", 0);
  unwritten.spool.clear();
  EXPECT_EQ(account({unwritten}), "");
}

}  // namespace
}  // namespace jaxprof::launcher
