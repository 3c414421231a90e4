#include "merge/study/recorded_time.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/unit/study/gpu_runs.h"
#include "tests/unit/study/marked_steps.h"

namespace jaxprof::study {
namespace {

using test::run_with_steps;
using testing::ElementsAre;

TEST(RecordedTime, IsWithinWindowsWhereNoStepIsMarked) {
  runfile::RunTables run = run_with_steps({{}, {}});
  test::add_segment(run, 0, 0, 100, 200);
  test::add_segment(run, 0, 1, 500, -1);
  const RecordedTime time(run, {});
  EXPECT_THAT(time.of_process(0).spans(), ElementsAre(TimeSpan{100, 200}, TimeSpan{500, 10'001}));
  EXPECT_THAT(time.of_process(1).spans(), ElementsAre(TimeSpan{0, 10'001}));
}

TEST(RecordedTime, IsCutWhereStepsEnd) {
  const RecordedTime time(run_with_steps({{{1, 100, 50}, {2, 200, 50}, {3, 300, 50}}, {}}), test::in_steps("2-3"));
  const auto own = time.pieces_of(0);
  ASSERT_EQ(own.size(), 2U);
  EXPECT_EQ(own[0].span, (TimeSpan{200, 300}));
  EXPECT_EQ(own[0].step, 1);
  EXPECT_EQ(own[1].span, (TimeSpan{300, 350}));
  EXPECT_EQ(own[1].step, 2);
  const auto of_the_job = time.pieces_of(1);
  ASSERT_EQ(of_the_job.size(), 2U);
  EXPECT_EQ(of_the_job[1].step, 2);
}

TEST(RecordedTime, LosesNothingWhereItIsCut) {
  std::mt19937_64 random{3};
  for (int round = 0; round < 100; ++round) {
    std::vector<std::vector<test::MarkedStep>> steps(3);
    for (std::size_t process = 0; process + 1 < steps.size(); ++process) {
      for (std::int64_t step = 0; step < 6; ++step) {
        steps[process].push_back(
            {step, static_cast<std::int64_t>(random() % 5000), static_cast<std::int64_t>(random() % 900) - 1});
      }
    }
    const RecordedTime time(run_with_steps(steps), test::in_steps("1-4"));
    for (std::size_t process = 0; process < steps.size(); ++process) {
      Intervals joined;
      std::int64_t length_ns = 0;
      std::int64_t end_ns = 0;
      for (const StepPiece& piece : time.pieces_of(process)) {
        EXPECT_GE(piece.span.begin_ns, end_ns);
        end_ns = piece.span.end_ns;
        length_ns += piece.span.end_ns - piece.span.begin_ns;
        joined.add(piece.span);
      }
      joined.settle();
      EXPECT_EQ(length_ns, time.of_process(process).length_ns());
      EXPECT_THAT(joined.spans(), testing::ElementsAreArray(time.of_process(process).spans()));
    }
  }
}

TEST(Walker, SaysOfAscendingInstantsWhetherTheyAreInASet) {
  Intervals set;
  set.add({10, 20});
  set.add({30, 40});
  set.settle();
  Walker walker(set);
  EXPECT_FALSE(walker.contains(9));
  EXPECT_TRUE(walker.contains(10));
  EXPECT_FALSE(walker.contains(20));
  EXPECT_TRUE(walker.contains(39));
  EXPECT_FALSE(walker.contains(40));
}

}  // namespace
}  // namespace jaxprof::study
