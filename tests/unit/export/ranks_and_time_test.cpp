#include "merge/export/ranks_and_time.h"

#include <gtest/gtest.h>

#include "tests/unit/study/marked_steps.h"

namespace jaxprof::exporting {
namespace {

using study::StudyOptions;
using study::TimeSpan;

std::vector<TimeSpan> time_of(const RanksAndTime& chosen, std::size_t process) {
  const auto spans = chosen.of_process[process].spans();
  return {spans.begin(), spans.end()};
}

// Steps of -1 to 3; rank 1 is 50 ns later.
runfile::RunTables run() {
  return study::test::run_with_steps({{{-1, 0, 90}, {0, 100, 90}, {1, 200, 90}, {2, 300, 390}, {3, 700, 90}},
                                      {{-1, 50, 90}, {0, 150, 90}, {1, 250, 90}, {2, 350, 390}, {3, 750, 90}}});
}

TEST(RanksAndTime, EachProcessHasItsOwnSteps) {
  const auto tables = run();
  const study::StepAxis axis(tables);
  StudyOptions asked;
  asked.steps = "0,2";
  const auto chosen = choose_ranks_and_time(tables, axis, asked_steps(axis, asked), asked);
  EXPECT_EQ(time_of(chosen, 0), (std::vector<TimeSpan>{{100, 200}, {300, 700}}));
  EXPECT_EQ(time_of(chosen, 1), (std::vector<TimeSpan>{{150, 250}, {350, 750}}));
  EXPECT_EQ(chosen.words, "steps 0, 2 of ranks 0-1");
  EXPECT_EQ(chosen.around, (TimeSpan{100, 750}));
}

TEST(RanksAndTime, AWindowAndRanksTakeAway) {
  const auto tables = run();
  const study::StepAxis axis(tables);
  StudyOptions asked;
  asked.ranks = "1";
  asked.window = TimeSpan{120, 170};
  const auto chosen = choose_ranks_and_time(tables, axis, {}, asked);
  EXPECT_EQ(chosen.is_wanted, (std::vector<std::uint8_t>{0, 1}));
  EXPECT_EQ(time_of(chosen, 1), (std::vector<TimeSpan>{{120, 170}}));
}

TEST(RanksAndTime, WithoutWaitsTheLongestStepAndThoseAroundIt) {
  const auto tables = run();
  const study::Scope scope(tables, {});
  const StepChoice steps = worst_steps(scope, {});
  EXPECT_EQ(steps.is_wanted, (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(steps.words, "steps 1-3");
  EXPECT_EQ(steps.why, "step 2 is the longest: 400 ns; nobody waited");
}

TEST(RanksAndTime, ARunWithoutStepsIsTakenAsAWhole) {
  const auto tables = study::test::run_with_steps({{}, {}});
  const study::Scope scope(tables, {});
  const auto chosen = choose_ranks_and_time(tables, scope.axis(), worst_steps(scope, {}), {});
  EXPECT_EQ(chosen.words, "the whole run of ranks 0-1");
  EXPECT_TRUE(chosen.of_process[0].contains(0));
}

}  // namespace
}  // namespace jaxprof::exporting
