#include "tests/synthetic/training_course.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/synthetic/scenario.h"

namespace jaxprof::synthetic {
namespace {

TrainingCourse course_of(const RunPlan& plan) {
  return TrainingCourse(plan, KernelMix(plan.seed));
}

RunPlan plan_of(const char* scenario, std::uint64_t seed) {
  auto plan = scenario_plan(scenario, seed);
  EXPECT_TRUE(plan) << plan.error().message;
  return *plan;
}

class EachScenario : public ::testing::TestWithParam<const char*> {};

std::vector<const char*> names() {
  std::vector<const char*> all;
  for (const Scenario& scenario : scenarios()) all.push_back(scenario.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(TrainingCourse, EachScenario, ::testing::ValuesIn(names()), [](const auto& of) {
  std::string name = of.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EachScenario, IsOneThatCanBe) {
  for (std::uint64_t seed = 1; seed < 50; ++seed) {
    const RunPlan plan = plan_of(GetParam(), seed);
    const auto can = check(plan);
    EXPECT_TRUE(can) << can.error().message;
  }
}

TEST_P(EachScenario, DoesOneThingAfterTheOther) {
  const RunPlan plan = plan_of(GetParam(), 3);
  const TrainingCourse course = course_of(plan);
  for (std::uint32_t rank = 0; rank < plan.processes; ++rank) {
    std::int64_t free_ns = course.begin_ns();
    std::int64_t host_ns = 0;
    for (std::uint32_t step = 0; step < course.steps(); ++step) {
      for (std::size_t unit = 0; unit < course.units().size(); ++unit) {
        const Segment& segment = course.segment(rank, step, unit);
        EXPECT_EQ(segment.begin_ns, free_ns);
        EXPECT_EQ(segment.kernels.size(), course.units()[unit].kernels.size());
        std::vector<CourseWork> all = segment.copies;
        all.insert(all.end(), segment.kernels.begin(), segment.kernels.end());
        for (const CourseWork& work : all) {
          EXPECT_GE(work.start_ns, free_ns);
          EXPECT_GT(work.start_ns, work.launch_ns);
          EXPECT_GE(work.launch_ns, host_ns);
          free_ns = work.end_ns();
          host_ns = work.launch_ns;
        }
        EXPECT_GT(segment.arrival_ns, free_ns);
        EXPECT_GT(segment.arrival_ns, segment.call_ns);
        EXPECT_GT(segment.call_ns, host_ns);
        free_ns = segment.end_ns;
      }
    }
  }
}

TEST_P(EachScenario, NobodyLeavesBeforeAllAreThere) {
  const RunPlan plan = plan_of(GetParam(), 5);
  const TrainingCourse course = course_of(plan);
  for (const CourseInstance& instance : course.instances()) {
    for (std::uint32_t i = 0; i < instance.comm.size; ++i) {
      const Segment& segment = course.segment(instance.comm.member(i), instance.step, instance.unit);
      EXPECT_LE(segment.arrival_ns, instance.last_ns);
      EXPECT_GE(segment.end_ns, instance.last_ns + instance.transfer_ns);
    }
  }
}

TEST(TrainingCourse, AStalledHostLaunchesAfterItsGpuHasRunOut) {
  RunPlan plan = plan_of("clean", 1);
  plan.training->slowdowns.push_back(*parse_slowdown("host-stall:rank3:500:7"));
  const TrainingCourse course = course_of(plan);
  const Segment& stalled = course.segment(3, 7, 1);
  EXPECT_GE(stalled.copies.front().launch_ns, stalled.begin_ns + 500'000);
  EXPECT_EQ(stalled.excess_ns, 500'000);
  const Segment& sound = course.segment(2, 7, 1);
  EXPECT_LT(sound.copies.front().launch_ns, sound.begin_ns);
  EXPECT_EQ(sound.excess_ns, 0);
  EXPECT_EQ(course.segment(3, 8, 1).excess_ns, 0);
}

TEST(TrainingCourse, ASlowPortHoldsUpWhatGoesBetweenNodesOnly) {
  RunPlan plan = plan_of("clean-in-nodes", 1);
  const TrainingCourse sound = course_of(plan);
  plan.training->slowdowns.push_back(*parse_slowdown("slow-nic:node2.0:3"));
  const TrainingCourse slow = course_of(plan);
  ASSERT_EQ(sound.instances().size(), slow.instances().size());
  for (std::size_t i = 0; i < sound.instances().size(); ++i) {
    const bool is_between_nodes = sound.instances()[i].node_bytes > 0;
    const double factor =
        static_cast<double>(slow.instances()[i].transfer_ns) / static_cast<double>(sound.instances()[i].transfer_ns);
    EXPECT_NEAR(factor, is_between_nodes ? 3 : 1, 0.001);
  }
}

TEST(TrainingCourse, FollowsFromTheSeed) {
  const RunPlan plan = plan_of("kernels", 9);
  EXPECT_EQ(course_of(plan).end_ns(), course_of(plan).end_ns());
  EXPECT_NE(course_of(plan).end_ns(), course_of(plan_of("kernels", 10)).end_ns());
}

}  // namespace
}  // namespace jaxprof::synthetic
