// Windows that open by what the program does: which ranges they hold, and when they opened and closed.
#include "agent/contract/window_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "merge/match/nvtx_ranges.h"
#include "tests/unit/collect/child_run.h"

namespace jaxprof::nvtx {
namespace {

using spool::WindowCause;
using test::ChildRun;
using testing::ElementsAre;
using testing::IsEmpty;

class Content : public testing::Test {
 protected:
  // Runs `scenario` with the window that the options say, and reads what was recorded.
  void run(const char* scenario, const char* range, const char* end = "stop") {
    ASSERT_EQ(parse_step_marker("step", &child_.plan().step_marker), nullptr);
    ASSERT_EQ(parse_capture_range(range, &child_.plan().window), nullptr);
    ASSERT_EQ(parse_capture_range_end(end, &child_.plan().window), nullptr);
    ASSERT_EQ(child_.run(JAXPROF_CHILD, scenario), 0) << scenario;
    EXPECT_EQ(child_.all_drops(), 0u);
    const rundir::SpoolTrace trace = child_.trace();
    match::NvtxRangeBuilder builder;
    trace.for_each_event([&builder](std::uint32_t thread, const spool::Event& event) { builder.add(thread, event); });
    const match::NvtxRanges nvtx = std::move(builder).finish();
    EXPECT_EQ(nvtx.ends_without_start, 0u);
    names_.clear();
    unended_.clear();
    for (const match::NvtxRange& range_row : nvtx.ranges) {
      std::string name(trace.text(range_row.message));
      if (range_row.payload_type != 0) name += " " + std::to_string(range_row.payload);
      names_.push_back(name);
      if (!range_row.has_end) unended_.push_back(name);
    }
    edges_ = trace.gpu().segments;
    EXPECT_EQ(child_.slot().segments.load(), openings());
  }
  std::uint32_t openings() const {
    std::uint32_t count = 0;
    for (const spool::SegmentState& edge : edges_) count += edge.is_open;
    return count;
  }
  void expect_edge(std::size_t index, bool is_open, WindowCause cause, std::uint64_t step = 0) const {
    ASSERT_LT(index, edges_.size());
    EXPECT_EQ(edges_[index].is_open, is_open ? 1u : 0u);
    EXPECT_EQ(edges_[index].segment, index / 2);
    EXPECT_EQ(edges_[index].cause, static_cast<std::uint32_t>(cause));
    EXPECT_EQ(edges_[index].step, step);
  }
  WindowState state() const { return child_.slot().window.load(); }

  ChildRun child_;
  std::vector<std::string> names_, unended_;
  std::vector<spool::SegmentState> edges_;
};

TEST_F(Content, StepsAreWholeFromTheFirstToTheLast) {
  run("ten_steps", "steps:3-4");
  EXPECT_THAT(names_, ElementsAre("step 3", "inside", "between", "step 4", "inside"));
  EXPECT_THAT(unended_, IsEmpty());
  ASSERT_EQ(edges_.size(), 2u);
  expect_edge(0, true, WindowCause::kStep, 1 + 3);
  expect_edge(1, false, WindowCause::kStep, 1 + 4);
  EXPECT_LT(edges_[0].stamp, edges_[1].stamp);
  EXPECT_EQ(state(), WindowState::kDone);
}

TEST_F(Content, OneStepIsAWindowToo) {
  run("ten_steps", "steps:9");
  EXPECT_THAT(names_, ElementsAre("step 9", "inside"));
}

TEST_F(Content, StepsThatAreLeftOutMoveTheEdges) {
  run("every_tenth_step", "steps:15-35");
  EXPECT_THAT(names_, ElementsAre("step 20", "inside", "between", "step 30", "inside", "between"));
  expect_edge(0, true, WindowCause::kStep, 1 + 20);
  expect_edge(1, false, WindowCause::kStep, 1 + 40);
}

TEST_F(Content, StepsWithoutNumbersCountWhileTheWindowIsClosed) {
  run("ordinals", "steps:2-3");
  EXPECT_THAT(names_, ElementsAre("step", "step"));
  expect_edge(0, true, WindowCause::kStep, 1 + 2);
}

TEST_F(Content, StepsMayBeOfAnotherRange) {
  run("ordinals", "steps:4@batch");
  EXPECT_THAT(names_, ElementsAre("batch"));
  expect_edge(0, true, WindowCause::kStep, 1 + 4);
  expect_edge(1, false, WindowCause::kStep, 1 + 4);
}

TEST_F(Content, StepsMayBeStartedRanges) {
  run("started_steps", "steps:1-2");
  EXPECT_THAT(names_, ElementsAre("step", "inside", "step", "inside"));
  EXPECT_THAT(unended_, IsEmpty());
}

TEST_F(Content, ALastStepEndsWithItsLastThread) {
  run("last_step_of_two", "steps:0-1");
  EXPECT_THAT(names_, ElementsAre("step", "other", "step", "own"));
}

TEST_F(Content, StepsThatNeverComeLeaveAnEmptySpool) {
  run("ten_steps", "steps:100-200");
  EXPECT_THAT(names_, IsEmpty());
  EXPECT_THAT(edges_, IsEmpty());
  EXPECT_EQ(state(), WindowState::kArmed);
}

TEST_F(Content, ARangesWindowIsTheRange) {
  run("hot_range", "nvtx:hot");
  EXPECT_THAT(names_, ElementsAre("hot", "hot", "inside", "mark"));
  EXPECT_THAT(unended_, IsEmpty());
  expect_edge(0, true, WindowCause::kRange);
  expect_edge(1, false, WindowCause::kRange);
}

TEST_F(Content, RepeatGivesASegmentEach) {
  run("hot_four_times", "nvtx:hot", "repeat:3");
  EXPECT_THAT(names_, ElementsAre("hot", "inside", "hot", "inside", "hot", "inside"));
  EXPECT_EQ(openings(), 3u);
  EXPECT_EQ(edges_.size(), 6u);
  EXPECT_EQ(state(), WindowState::kDone);
}

TEST_F(Content, NoneStaysOpen) {
  run("hot_four_times", "nvtx:hot", "none");
  EXPECT_EQ(names_.size(), 12u);
  ASSERT_EQ(edges_.size(), 2u);
  expect_edge(1, false, WindowCause::kExit);
}

TEST_F(Content, ARangeOfADomainIsFoundAsTextAndRegistered) {
  run("hot_in_all_forms", "nvtx:hot@model", "repeat");
  EXPECT_THAT(names_, ElementsAre("hot", "registered", "hot", "text"));
  EXPECT_EQ(state(), WindowState::kArmed);
}

TEST_F(Content, ARangeIsFoundAsWideTextAndStarted) {
  run("hot_wide_and_started", "nvtx:hot", "repeat");
  EXPECT_THAT(names_, ElementsAre("hot", "wide", "hot", "started"));
  EXPECT_THAT(unended_, IsEmpty());
}

TEST_F(Content, ARangeThatIsOpenAtExitIsClosedThere) {
  run("left_open", "nvtx:hot");
  EXPECT_THAT(unended_, ElementsAre("hot"));
  expect_edge(1, false, WindowCause::kExit);
  EXPECT_EQ(state(), WindowState::kOpen) << "as it was when the process ended";
}

TEST_F(Content, RangesAcrossAnEdgeHaveNoEndAndNoBegin) {
  run("across_edges", "nvtx:hot", "repeat");
  EXPECT_THAT(names_, ElementsAre("hot", "crossing", "hot", "second"));
  EXPECT_THAT(unended_, ElementsAre("crossing"));
}

TEST_F(Content, TheProfilersCallsOpenAndClose) {
  run("profiler_calls", "cudaProfilerApi");
  EXPECT_THAT(names_, ElementsAre("inside"));
  expect_edge(0, true, WindowCause::kProfiler);
  expect_edge(1, false, WindowCause::kProfiler);
}

TEST_F(Content, WithoutNvtxOnlyStepsAndTheWindowsRangesAreKept) {
  child_.plan().trace = kTraceNccl;
  run("ten_steps", "none");
  EXPECT_EQ(names_.size(), 10u);
  EXPECT_EQ(names_.front(), "step 0");
  EXPECT_THAT(unended_, IsEmpty());
}

TEST_F(Content, ThreadsWithoutEventsHaveNoRings) {
  run("crowd_before_the_window", "nvtx:hot");  // which expects that nothing is counted as lost
  EXPECT_THAT(names_, ElementsAre("hot", "inside"));
  const auto bytes = std::filesystem::file_size(child_.folder() + "/" + child_.slot().ring_name);
  EXPECT_LT(bytes, (2U << 20) + 2 * ChildRun::kRingBytes) << "the log and one thread's ring";
}

// A range is a push and a pop, and the end of a range that was not recorded is none.
TEST_F(Content, WhatComesAfterTheEndIsCountedIfItWouldHaveBeenKept) {
  ASSERT_EQ(parse_step_marker("step", &child_.plan().step_marker), nullptr);
  ASSERT_EQ(child_.run(JAXPROF_CHILD, "calls_after_the_end"), 0);
  EXPECT_EQ(child_.drops(Drop::kAfterEnd), 7u * (2 + 1 + 1) + 2 + 2);
  EXPECT_EQ(child_.all_drops(), child_.drops(Drop::kAfterEnd));
}

TEST_F(Content, WhatIsNotAskedForIsNotLostAfterTheEnd) {
  ASSERT_EQ(parse_step_marker("step", &child_.plan().step_marker), nullptr);
  child_.plan().trace = kTraceNccl;
  ASSERT_EQ(child_.run(JAXPROF_CHILD, "calls_after_the_end"), 0);
  EXPECT_EQ(child_.drops(Drop::kAfterEnd), 2u + 2) << "the range of NCCL's domain, and the step";
  EXPECT_EQ(child_.all_drops(), child_.drops(Drop::kAfterEnd));
}

TEST_F(Content, WithoutNvtxTheWindowsRangeIsKept) {
  child_.plan().trace = kTraceCuda;
  run("hot_range", "nvtx:hot");
  EXPECT_THAT(names_, ElementsAre("hot"));
  EXPECT_THAT(unended_, IsEmpty());
}

}  // namespace
}  // namespace jaxprof::nvtx
