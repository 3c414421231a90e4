// Step by step what stragglers sums up.
#include "merge/study/step_map.h"

#include <gtest/gtest.h>

#include <random>

#include "merge/study/arrival_course.h"
#include "merge/study/stragglers.h"
#include "tests/unit/study/cells.h"
#include "tests/unit/study/marked_steps.h"
#include "tests/unit/study/meetings.h"

namespace jaxprof::study {
namespace {

constexpr std::int64_t kStepNs = 10'000'000;

// Four ranks on two nodes; in step k rank late_of[k] comes late_ns[k] after the others to its two collectives.
runfile::RunTables run_of_steps(const std::vector<std::uint32_t>& late_of, const std::vector<std::int64_t>& late_ns) {
  const test::MeetingPlan plan{.processes = 4, .processes_of_node = 2, .has_devices = true, .comms = {{0, 1, 2, 3}}};
  std::vector<test::Meeting> meetings;
  for (std::size_t k = 0; k < late_of.size(); ++k) {
    for (const std::int64_t t_ns : {std::int64_t{1'000'000}, std::int64_t{5'000'000}}) {
      const std::int64_t begin_ns = static_cast<std::int64_t>(k) * kStepNs + t_ns;
      test::Meeting meeting{.start_ns = std::vector<std::int64_t>(4, begin_ns), .end_ns = {}};
      meeting.start_ns[late_of[k]] += late_ns[k];
      meeting.end_ns.assign(4, begin_ns + late_ns[k] + 100'000);
      meetings.push_back(std::move(meeting));
    }
  }
  auto run = test::run_of_meetings(plan, meetings);
  for (std::uint32_t p = 0; p < 4; ++p) {
    std::vector<test::MarkedStep> steps;
    for (std::size_t k = 0; k < late_of.size(); ++k) {
      steps.push_back({static_cast<std::int64_t>(k), static_cast<std::int64_t>(k) * kStepNs, kStepNs - 1});
    }
    test::add_steps(run, p, steps);
  }
  return run;
}

TEST(StepMap, HasLatenessWhereItWas) {
  const auto run = run_of_steps({1, 1, 3, 1}, {400'000, 0, 200'000, 400'000});
  const auto facts = StragglerFacts::gather(run, nullptr, {});
  ASSERT_TRUE(facts);
  const StepMap map = map_steps(run, *facts);
  ASSERT_EQ(map.ranks.size(), 4U);
  ASSERT_EQ(map.steps.size(), 4U);
  EXPECT_EQ(map.off_middle_ns[1 * 4 + 0], 400'000);
  EXPECT_EQ(map.off_middle_ns[1 * 4 + 1], 0);
  EXPECT_EQ(map.off_middle_ns[3 * 4 + 2], 200'000);
  EXPECT_EQ(map.off_middle_ns[0 * 4 + 2], 0);
  EXPECT_GT(map.fault_ns[1 * 4 + 0], 0);
  EXPECT_EQ(map.fault_ns[1 * 4 + 1], 0);
}

TEST(StepMap, AddsUpToTheFaultOfStragglers) {
  std::mt19937_64 random{7};
  for (int round = 0; round < 20; ++round) {
    std::vector<std::uint32_t> late_of;
    std::vector<std::int64_t> late_ns;
    for (int k = 0; k < 8; ++k) {
      late_of.push_back(static_cast<std::uint32_t>(random() % 4));
      late_ns.push_back(static_cast<std::int64_t>(random() % 1'000'000));
    }
    const auto run = run_of_steps(late_of, late_ns);
    const auto facts = StragglerFacts::gather(run, nullptr, {});
    const auto table = stragglers_in_memory(run, {});
    ASSERT_TRUE(facts && table);
    const StepMap map = map_steps(run, *facts);
    for (std::size_t row = 0; row < table->rows.size(); ++row) {
      const auto rank = static_cast<std::size_t>(test::whole_at(*table, row, "rank"));
      ASSERT_EQ(map.ranks.at(rank).rank, static_cast<std::int32_t>(rank));
      std::int64_t sum_ns = 0;
      for (std::size_t step = 0; step < map.steps.size(); ++step)
        sum_ns += map.fault_ns[rank * map.steps.size() + step];
      EXPECT_EQ(sum_ns, test::whole_at(*table, row, "fault_ns")) << "rank " << rank << " of round " << round;
    }
  }
}

TEST(ArrivalCourse, FollowsARankFromOneCollectiveToTheNext) {
  const auto run = run_of_steps({1, 2}, {400'000, 300'000});
  const auto facts = StragglerFacts::gather(run, nullptr, {});
  ASSERT_TRUE(facts);
  const Subjects ranks(run, facts->arrivals(), By::kRank);
  const auto course = arrival_course(*facts, ranks, 1);
  ASSERT_EQ(course.size(), 4U);
  EXPECT_EQ(course[0].t_ns, 1'400'000);
  EXPECT_EQ(course[0].off_middle_ns, 400'000);
  EXPECT_EQ(course[2].off_middle_ns, 0);
  EXPECT_EQ(course[2].step, 1);
}

TEST(ArrivalCourse, HasABandOfTheMembersAndOneOfTheClocks) {
  const auto run = run_of_steps({1}, {400'000});
  const auto facts = StragglerFacts::gather(run, nullptr, {});
  ASSERT_TRUE(facts);
  const auto bands = arrival_bands(run, *facts);
  ASSERT_EQ(bands.size(), 2U);
  EXPECT_EQ(bands[0].t_ns, 1'400'000);
  EXPECT_DOUBLE_EQ(bands[0].std_ns, 200'000);  // of 0, 0, 0, 400 000
}

}  // namespace
}  // namespace jaxprof::study
