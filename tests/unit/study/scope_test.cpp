// Which part of a run is looked at, and what is said of the rest.
#include "merge/study/scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

TEST(StepAxis, LetsAStepLastToTheNextOnesBegin) {
  const auto run = test::run_with_steps({{{0, 100, 30}, {1, 200, 30}, {2, 300, 30}}});
  const StepAxis axis(run);
  ASSERT_EQ(axis.of_process(0).size(), 3U);
  EXPECT_EQ(axis.of_process(0)[0].span, (TimeSpan{100, 200}));
  EXPECT_EQ(axis.of_process(0)[2].span, (TimeSpan{300, 330}));
  EXPECT_EQ(axis.index_at(0, 199), 0U);
  EXPECT_EQ(axis.index_at(0, 200), 1U);
  EXPECT_EQ(axis.index_at(0, 99), std::nullopt);
  EXPECT_EQ(axis.index_at(0, 330), std::nullopt);
}

TEST(StepAxis, EndsAStepWhereTheWindowClosed) {
  auto run = test::run_with_steps({{{0, 100, 30}, {50, 900, 30}}});
  test::add_segment(run, 0, 0, 50, 160);
  test::add_segment(run, 0, 1, 850, 1000);
  const StepAxis axis(run);
  EXPECT_EQ(axis.of_process(0)[0].span, (TimeSpan{100, 160}));
}

TEST(StepAxis, JoinsTheThreadsOfAProcessAndTheProcessesOfAJob) {
  const auto run = test::run_with_steps({{{5, 100, 50}, {5, 110, 60}, {6, 200, 10}}, {{5, 90, 20}, {6, 190, 25}}});
  const StepAxis axis(run);
  ASSERT_EQ(axis.of_process(0).size(), 2U);
  ASSERT_EQ(axis.steps().size(), 2U);
  EXPECT_EQ(axis.steps()[0].step, 5);
  EXPECT_EQ(axis.steps()[0].span, (TimeSpan{90, 200}));
  EXPECT_EQ(axis.steps()[0].processes, 2U);
}

TEST(StepAxis, GivesAProcessWithoutStepsThoseOfTheJob) {
  const auto run = test::run_with_steps({{{0, 100, 30}, {1, 200, 30}}, {}});
  EXPECT_EQ(StepAxis(run).index_at(1, 150), 0U);
  EXPECT_EQ(StepAxis(run).index_at(1, 205), 1U);
}

TEST(Scope, LeavesOutLeadingStepsThatAreLong) {
  std::vector<test::MarkedStep> steps = {{0, 0, 900}, {1, 1000, 90}};
  for (std::int64_t i = 2; i < 9; ++i) steps.push_back({i, 1100 + 100 * (i - 2), 90});
  const auto run = test::run_with_steps({steps});
  const Scope scope(run, {});
  EXPECT_FALSE(scope.is_step_wanted(0));
  EXPECT_TRUE(scope.is_step_wanted(1));
  EXPECT_THAT(scope.words(), HasSubstr("steps 1-8; step 0 left out as warm-up (--all-steps)"));
  EXPECT_EQ(scope.step_at(0, 500), -1);
  EXPECT_EQ(scope.step_at(0, 1050), 1);
  StudyOptions all;
  all.has_all_steps = true;
  EXPECT_EQ(Scope(run, all).n_steps(), 9U);
}

TEST(Scope, KeepsALongStepInTheMiddle) {
  const auto run = test::run_with_steps({{{0, 0, 90}, {1, 100, 890}, {2, 1000, 90}, {3, 1100, 90}}});
  EXPECT_EQ(Scope(run, {}).n_steps(), 4U);
}

TEST(Scope, LeavesOutALastStepThatDidNotEnd) {
  const auto run = test::run_with_steps({{{0, 0, 90}, {1, 100, 90}, {2, 200, -1}}});
  const Scope scope(run, {});
  EXPECT_EQ(scope.n_steps(), 2U);
  EXPECT_THAT(scope.words(), HasSubstr("step 2, which did not end, left out"));
}

TEST(Scope, TakesStepsSegmentsAndWindowsTogether) {
  auto run = test::run_with_steps({{{0, 0, 90}, {1, 100, 90}, {2, 200, 90}}});
  test::add_segment(run, 0, 0, 0, 250);
  StudyOptions options;
  options.steps = "1-2";
  options.segment = 0;
  options.window = TimeSpan{150, 1000};
  const Scope scope(run, options);
  EXPECT_TRUE(scope.contains(0, 150));
  EXPECT_FALSE(scope.contains(0, 149));
  EXPECT_TRUE(scope.contains(0, 249));
  EXPECT_FALSE(scope.contains(0, 250));
  EXPECT_EQ(scope.of_process(0).length_ns(), 100);
}

TEST(Scope, IsTheWholeRunWhereNoStepIsMarked) {
  const auto run = test::run_with_steps({{}});
  const Scope scope(run, {});
  EXPECT_EQ(scope.words(), "the whole run, in which no step is marked");
  EXPECT_EQ(scope.step_at(0, 5), 0);
}

TEST(CheckScope, SaysWhatTheRunHas) {
  auto run = test::run_with_steps({{{3, 0, 90}, {4, 100, 90}}});
  StudyOptions options;
  options.steps = "7-9";
  EXPECT_EQ(check_scope(run, options).error().message,
            "--steps 7-9: the run file has none of these; it has steps 3 to 4");
  options.steps = "4";
  options.segment = 2;
  EXPECT_EQ(check_scope(run, options).error().message, "--segment 2: the run file has no segments");
  options.segment.reset();
  options.window = TimeSpan{1'000'000, 2'000'000};
  EXPECT_THAT(check_scope(run, options).error().message, HasSubstr("begins after the run, which ends at"));
  options.window.reset();
  EXPECT_TRUE(check_scope(run, options));
}

}  // namespace
}  // namespace jaxprof::study
