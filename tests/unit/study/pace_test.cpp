#include "merge/study/pace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

using testing::HasSubstr;

Cell at(const Table& table, std::size_t row, std::string_view name) {
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (table.columns[i].name == name) return table.rows.at(row)[i];
  }
  ADD_FAILURE() << "no column " << name;
  return {};
}
std::int64_t whole(const Table& table, std::size_t row, std::string_view name) {
  return std::get<std::int64_t>(at(table, row, name));
}

// Two ranks, three steps of 1000, 1000 and 1600 ns; rank 1 comes 100 ns late in each.
runfile::RunTables two_ranks() {
  std::vector<test::Meeting> meetings;
  std::vector<test::MarkedStep> steps;
  std::int64_t now_ns = 0;
  for (const std::int64_t length_ns : {1000, 1000, 1600}) {
    steps.push_back({static_cast<std::int64_t>(steps.size()) + 7, now_ns, length_ns - 50});
    meetings.push_back({.start_ns = {now_ns + 700, now_ns + 800}, .end_ns = {now_ns + 900, now_ns + 900}});
    now_ns += length_ns;
  }
  auto run = test::run_of_meetings({.processes = 2, .has_devices = true, .comms = {{0, 1}}}, meetings);
  test::add_steps(run, 0, steps);
  test::add_steps(run, 1, steps);
  return run;
}

TEST(Pace, HasARowAStep) {
  const Table table = pace(two_ranks(), {});
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(whole(table, 0, "step"), 7);
  EXPECT_EQ(whole(table, 0, "length_ns"), 1000);
  EXPECT_EQ(whole(table, 2, "length_ns"), 1550) << "the last one lasts to the end of its marker";
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, 2, "slowdown")), 1.55);
  EXPECT_EQ(whole(table, 0, "wait_ns"), 100);
  EXPECT_EQ(whole(table, 0, "last_rank"), 1);
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, 0, "last_share")), 1);
  EXPECT_THAT(table.verdict, HasSubstr("3 steps, median 1 µs; longest: step 9, 1.55 x"));
}

TEST(Pace, HasARowAStepAndRank) {
  StudyOptions options;
  options.by = By::kRank;
  options.ranks = "0";
  const Table table = pace(two_ranks(), options);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_EQ(whole(table, 0, "rank"), 0);
  EXPECT_EQ(whole(table, 0, "wait_ns"), 100);
  EXPECT_EQ(whole(table, 0, "last_count"), 0);
  EXPECT_EQ(whole(table, 0, "busy_ns"), 200);
}

TEST(Pace, FindsWhereThePaceChanged) {
  std::vector<test::MarkedStep> steps;
  std::int64_t now_ns = 0;
  for (std::int64_t i = 0; i < 40; ++i) {
    steps.push_back({i, now_ns, 100});
    now_ns += i < 20 ? 100 : 120;
  }
  const Table table = pace(test::run_with_steps({steps}), {});
  EXPECT_THAT(table.verdict, HasSubstr("from step 20 on 20.0 % longer"));
  EXPECT_EQ(table.finding, Finding::kWarning);
  EXPECT_DOUBLE_EQ(std::get<double>(at(table, 20, "change")), 1.2);
  EXPECT_TRUE(std::holds_alternative<Missing>(at(table, 0, "wait_ns")));
}

TEST(Pace, SaysThatNoStepIsMarked) {
  EXPECT_THAT(pace(test::run_with_steps({{}}), {}).empty_reason, HasSubstr("no step is marked"));
}

}  // namespace
}  // namespace jaxprof::study
