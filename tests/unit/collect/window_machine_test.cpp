// When windows open and close, in a time that is made up.
#include "agent/collect/window_machine.h"

#include <gtest/gtest.h>

#include <string>

namespace jaxprof::collect {
namespace {

using spool::WindowCause;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::int64_t kAttach = 100 * kSecond;       // monotonic
constexpr std::int64_t kAttachWall = 5000 * kSecond;  // realtime
constexpr std::int64_t kNever = INT64_MAX;

WindowPlan plan_of(const char* range, const char* end = "stop", std::int64_t delay_ns = 0,
                   std::int64_t duration_ns = 0) {
  WindowPlan plan;
  EXPECT_EQ(parse_capture_range(range, &plan), nullptr);
  EXPECT_EQ(parse_capture_range_end(end, &plan), nullptr);
  plan.delay_ns = delay_ns;
  plan.duration_ns = duration_ns;
  return plan;
}

WindowMachine started(const WindowPlan& plan) {
  WindowMachine machine;
  machine.start(plan, kAttach, kAttachWall);
  return machine;
}

TEST(WindowMachine, IsOpenFromAttachUnlessToldOtherwise) {
  WindowMachine machine = started(WindowPlan{});
  EXPECT_EQ(machine.pass_time(kAttach), WindowChange::kOpens);
  EXPECT_EQ(machine.time_cause(), WindowCause::kAttach);
  EXPECT_EQ(machine.next_edge_ns(), kNever);
  EXPECT_EQ(machine.pass_time(kNever - 1), WindowChange::kNone);
  EXPECT_EQ(machine.end_for_good(), WindowChange::kCloses);
  EXPECT_EQ(machine.end_for_good(), WindowChange::kNone);
}

TEST(WindowMachine, ADelayCountsFromTheRunsStart) {
  WindowPlan plan = plan_of("none", "stop", 30 * kSecond, 10 * kSecond);
  plan.t0_realtime_ns = kAttachWall - 20 * kSecond;
  WindowMachine machine = started(plan);
  EXPECT_EQ(machine.next_edge_ns(), kAttach + 10 * kSecond);
  EXPECT_EQ(machine.pass_time(kAttach + 10 * kSecond - 1), WindowChange::kNone);
  EXPECT_EQ(machine.pass_time(kAttach + 10 * kSecond), WindowChange::kOpens);
  EXPECT_EQ(machine.time_cause(), WindowCause::kDelay);
}

TEST(WindowMachine, ADelayWithoutTheRunsStartCountsFromAttach) {
  WindowMachine machine = started(plan_of("none", "stop", 30 * kSecond));
  EXPECT_EQ(machine.next_edge_ns(), kAttach + 30 * kSecond);
}

TEST(WindowMachine, AProcessThatComesLateOpensAtOnce) {
  WindowPlan plan = plan_of("none", "stop", 30 * kSecond, 10 * kSecond);
  plan.t0_realtime_ns = kAttachWall - 35 * kSecond;
  WindowMachine machine = started(plan);
  EXPECT_EQ(machine.pass_time(kAttach), WindowChange::kOpens);
  EXPECT_EQ(machine.next_edge_ns(), kAttach + 10 * kSecond) << "the duration counts from the opening";
}

TEST(WindowMachine, ADurationEndsItForGood) {
  WindowMachine machine = started(plan_of("none", "stop", 0, 10 * kSecond));
  EXPECT_EQ(machine.pass_time(kAttach + 5), WindowChange::kOpens);
  EXPECT_EQ(machine.next_edge_ns(), kAttach + 5 + 10 * kSecond);
  EXPECT_EQ(machine.pass_time(kAttach + 4 + 10 * kSecond), WindowChange::kNone);
  EXPECT_EQ(machine.pass_time(kAttach + 5 + 10 * kSecond), WindowChange::kCloses);
  EXPECT_EQ(machine.time_cause(), WindowCause::kDuration);
  EXPECT_EQ(machine.state(), WindowState::kDone);
  EXPECT_EQ(machine.next_edge_ns(), kNever);
  EXPECT_EQ(machine.pass_time(kNever), WindowChange::kNone);
}

TEST(WindowMachine, ContentOpensAndClosesOnce) {
  for (const char* range : {"cudaProfilerApi", "nvtx:x", "steps:3-5"}) {
    WindowMachine machine = started(plan_of(range));
    EXPECT_EQ(machine.pass_time(kAttach + kSecond), WindowChange::kNone) << range;
    EXPECT_EQ(machine.end_content(), WindowChange::kNone);
    EXPECT_EQ(machine.begin_content(kAttach + kSecond), WindowChange::kOpens);
    EXPECT_EQ(machine.begin_content(kAttach + kSecond), WindowChange::kNone) << "the second at the same edge";
    EXPECT_EQ(machine.end_content(), WindowChange::kCloses);
    EXPECT_EQ(machine.begin_content(kAttach + 2 * kSecond), WindowChange::kNone);
    EXPECT_EQ(machine.segments(), 1u);
    EXPECT_FALSE(machine.asks_shutdown());
  }
}

TEST(WindowMachine, ContentCountsOnlyAfterTheDelay) {
  WindowMachine machine = started(plan_of("nvtx:x", "stop", 30 * kSecond));
  EXPECT_EQ(machine.next_edge_ns(), kNever) << "time alone opens nothing";
  EXPECT_EQ(machine.begin_content(kAttach + 30 * kSecond - 1), WindowChange::kNone);
  EXPECT_EQ(machine.end_content(), WindowChange::kNone);
  EXPECT_EQ(machine.begin_content(kAttach + 30 * kSecond), WindowChange::kOpens);
}

TEST(WindowMachine, ADurationCapsContent) {
  WindowMachine machine = started(plan_of("nvtx:x", "repeat", 0, kSecond));
  EXPECT_EQ(machine.begin_content(kAttach), WindowChange::kOpens);
  EXPECT_EQ(machine.pass_time(kAttach + kSecond), WindowChange::kCloses);
  EXPECT_EQ(machine.end_content(), WindowChange::kNone) << "the range ends later";
  EXPECT_EQ(machine.begin_content(kAttach + 3 * kSecond), WindowChange::kOpens);
  EXPECT_EQ(machine.next_edge_ns(), kAttach + 4 * kSecond);
}

TEST(WindowMachine, RepeatsAsOftenAsItWasTold) {
  WindowMachine machine = started(plan_of("nvtx:x", "repeat:3"));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(machine.state(), WindowState::kArmed);
    EXPECT_EQ(machine.begin_content(kAttach), WindowChange::kOpens);
    EXPECT_EQ(machine.end_content(), WindowChange::kCloses);
  }
  EXPECT_EQ(machine.state(), WindowState::kDone);
  EXPECT_EQ(machine.segments(), 3u);
  EXPECT_FALSE(machine.asks_shutdown());
  WindowMachine endless = started(plan_of("nvtx:x", "repeat"));
  for (int i = 0; i < 1000; ++i) {
    endless.begin_content(kAttach);
    endless.end_content();
  }
  EXPECT_EQ(endless.segments(), 1000u);
  EXPECT_EQ(endless.state(), WindowState::kArmed);
}

TEST(WindowMachine, NoneStaysOpenPastItsContent) {
  WindowMachine machine = started(plan_of("nvtx:x", "none", 0, 10 * kSecond));
  EXPECT_EQ(machine.begin_content(kAttach), WindowChange::kOpens);
  EXPECT_EQ(machine.end_content(), WindowChange::kNone);
  EXPECT_TRUE(machine.is_open());
  EXPECT_EQ(machine.pass_time(kAttach + 10 * kSecond), WindowChange::kCloses);
}

TEST(WindowMachine, AsksForAShutdownAfterTheLastClose) {
  WindowMachine once = started(plan_of("nvtx:x", "stop-shutdown"));
  once.begin_content(kAttach);
  EXPECT_FALSE(once.asks_shutdown());
  once.end_content();
  EXPECT_TRUE(once.asks_shutdown());
  WindowMachine twice = started(plan_of("nvtx:x", "repeat-shutdown:2"));
  twice.begin_content(kAttach);
  twice.end_content();
  EXPECT_FALSE(twice.asks_shutdown());
  twice.begin_content(kAttach);
  twice.end_content();
  EXPECT_TRUE(twice.asks_shutdown());
  WindowMachine ended = started(plan_of("nvtx:x", "stop-shutdown"));
  ended.begin_content(kAttach);
  EXPECT_EQ(ended.end_for_good(), WindowChange::kCloses);
  EXPECT_FALSE(ended.asks_shutdown()) << "the process ends by itself";
}

TEST(WindowMachine, NothingOpensBeforeItStartsOrAfterItsEnd) {
  WindowMachine machine;
  EXPECT_EQ(machine.begin_content(kAttach), WindowChange::kNone);
  EXPECT_EQ(machine.pass_time(kAttach), WindowChange::kNone);
  machine.start(plan_of("nvtx:x"), kAttach, kAttachWall);
  EXPECT_EQ(machine.end_for_good(), WindowChange::kNone);
  EXPECT_EQ(machine.begin_content(kAttach), WindowChange::kNone);
  EXPECT_EQ(machine.segments(), 0u);
}

}  // namespace
}  // namespace jaxprof::collect
