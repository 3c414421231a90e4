#include "merge/study/gaps.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/cells.h"
#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;
using namespace test;

constexpr std::int64_t kMs = 1'000'000;

TEST(Gaps, AreStretchesOfMoreThanAMillisecondWithWhatIsAroundThem) {
  auto run =
      run_of_work({.end_ns = 20 * kMs},
                  {{.start_ns = 0, .dur_ns = kMs, .kernel = "first", .launch_ns = 0},
                   {.start_ns = 6 * kMs, .dur_ns = kMs, .kernel = "second", .launch_ns = 5 * kMs},
                   {.start_ns = 8 * kMs, .dur_ns = kMs, .kernel = "third", .launch_ns = 6 * kMs},
                   {.start_ns = 11 * kMs, .dur_ns = 9 * kMs, .copy = runfile::MemopKind::kHtoD, .launch_ns = 8 * kMs}});
  set_ranges(run, {{.name = "step", .start_ns = 0, .dur_ns = 20 * kMs},
                   {.name = "input", .start_ns = 4 * kMs, .dur_ns = 2 * kMs, .parent = 0}});
  add_steps(run, 0, {{7, 0, 20 * kMs}});
  run.step_process_offset = {0, 1};
  const Table table = answer(kGaps, run);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(whole_at(table, 0, "begin_ns"), kMs);
  EXPECT_EQ(whole_at(table, 0, "length_ns"), 5 * kMs);
  EXPECT_EQ(text_at(table, 0, "cause"), "host");
  EXPECT_EQ(text_at(table, 0, "before"), "first");
  EXPECT_EQ(text_at(table, 0, "after"), "second");
  EXPECT_EQ(whole_at(table, 0, "launched_ns"), 4 * kMs);
  EXPECT_EQ(text_at(table, 0, "range"), "input");
  EXPECT_EQ(whole_at(table, 0, "step"), 7);
  EXPECT_EQ(text_at(table, 1, "cause"), "other");
  EXPECT_EQ(text_at(table, 1, "after"), "copy HtoD");
  EXPECT_EQ(whole_at(table, 1, "launched_ns"), -kMs);
  EXPECT_EQ(text_at(table, 1, "range"), "step");
  EXPECT_THAT(table.verdict, HasSubstr("2 gaps, 7 ms in all"));
}

TEST(Gaps, AreIdleOfAllStreamsAndWithinScope) {
  const auto run = run_of_work(
      {.end_ns = 20 * kMs},
      {{.start_ns = 0, .dur_ns = 9 * kMs}, {.start_ns = kMs, .dur_ns = kMs}, {.start_ns = 19 * kMs, .dur_ns = kMs}});
  const Table table = answer(kGaps, run, in_window(0, 12 * kMs));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "length_ns"), 3 * kMs);
  EXPECT_EQ(text_at(table, 0, "cause"), "unknown");
  EXPECT_THAT(answer(kGaps, run, in_window(0, 9 * kMs)).empty_reason, HasSubstr("no GPU was idle for more than 1 ms"));
}

TEST(Gaps, OfAGpuWithoutWorkAreAllOfItsTime) {
  const Table table = answer(kGaps, run_of_work({.gpus = 2, .end_ns = 5 * kMs}, {{.start_ns = 0, .dur_ns = 5 * kMs}}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(whole_at(table, 0, "gpu"), 1);
  EXPECT_TRUE(is_missing_at(table, 0, "before"));
  EXPECT_TRUE(is_missing_at(table, 0, "after"));
}

}  // namespace
}  // namespace jaxprof::study
