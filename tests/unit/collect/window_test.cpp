// The window of a process: its times, its edges in the spool, and what the collector of GPUs is told by whom.
#include "agent/contract/window_plan.h"

#include <gtest/gtest.h>

#include "agent/spool/block.h"
#include "tests/unit/collect/child_run.h"

namespace jaxprof::collect {
namespace {

using spool::WindowCause;
using test::ChildRun;

class Window : public testing::Test {
 protected:
  void run(const char* scenario, const char* range, const char* end) {
    ASSERT_EQ(parse_capture_range(range, &child_.plan().window), nullptr);
    ASSERT_EQ(parse_capture_range_end(end, &child_.plan().window), nullptr);
    ASSERT_EQ(child_.run(JAXPROF_CHILD, scenario), 0) << scenario;
    EXPECT_EQ(child_.reported("faults"), 0) << "the collector was called twice at once, or twice alike";
  }
  ChildRun child_;
};

TEST_F(Window, CallsOfTheProfilerInsideACallOfCuptiReturn) {
  run("calls_inside_calls", "cudaProfilerApi", "repeat");
  EXPECT_EQ(child_.reported("capturing_inside"), 0) << "the inner stop counts";
  EXPECT_EQ(child_.reported("opened"), 1);
  EXPECT_EQ(child_.reported("closed"), 1) << "who told of the opening looks again";
  EXPECT_EQ(child_.slot().segments.load(), 1u);
}

TEST_F(Window, OneThreadAtATimeTellsTheCollector) {
  run("many_callers", "cudaProfilerApi", "repeat");
  EXPECT_EQ(child_.reported("is_open"), 0);
  EXPECT_EQ(child_.reported("opened"), child_.reported("closed"));
  EXPECT_LE(child_.reported("opened"), child_.slot().segments.load());
  const auto edges = child_.trace().gpu().segments;
  EXPECT_EQ(edges.size(), 2 * child_.slot().segments.load());
  for (std::size_t i = 0; i < edges.size(); ++i) {
    ASSERT_EQ(edges[i].is_open, i % 2 == 0 ? 1u : 0u) << i;
    ASSERT_EQ(edges[i].segment, i / 2) << i;
    if (i > 0) {
      ASSERT_LE(edges[i - 1].stamp, edges[i].stamp) << i;
    }
  }
}

TEST_F(Window, WhoeverHasTheLockNextTellsWhatARefusedOneCouldNot) {
  run("refused_lock", "cudaProfilerApi", "stop");
  EXPECT_EQ(child_.reported("stopped"), 1);
  EXPECT_EQ(child_.reported("opened"), 1);
  EXPECT_EQ(child_.reported("closed"), 1);
  EXPECT_EQ(child_.reported("is_open"), 0);
}

TEST_F(Window, ACollectorThatComesLateIsToldOfTheOpenWindow) {
  run("late_collector", "cudaProfilerApi", "stop");
  EXPECT_EQ(child_.reported("before"), 0);
  EXPECT_EQ(child_.reported("opened"), 1);
}

TEST_F(Window, OpensAndClosesByTheClock) {
  child_.plan().window.delay_ns = 30'000'000;
  child_.plan().window.duration_ns = 20'000'000;
  run("until_the_time_is_over", "none", "stop");
  EXPECT_EQ(child_.reported("done"), 1);
  EXPECT_EQ(child_.reported("told"), 1);
  const auto edges = child_.trace().gpu().segments;
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_EQ(edges[0].cause, static_cast<std::uint32_t>(WindowCause::kDelay));
  EXPECT_EQ(edges[1].cause, static_cast<std::uint32_t>(WindowCause::kDuration));
  EXPECT_GE(edges[1].realtime_ns - edges[0].realtime_ns, 19'000'000);
}

TEST_F(Window, AShutdownIsAskedForAfterTheFooter) {
  run("until_its_recording_ends", "cudaProfilerApi", "stop-shutdown");
  EXPECT_EQ(child_.reported("ended"), 1);
  EXPECT_EQ(child_.reported("asked"), 1);
  EXPECT_GE(child_.reported("fills_after_ask"), 5) << "read until all of the GPUs' has come";
  EXPECT_EQ(child_.reported("recording"), 0);
  EXPECT_EQ(child_.all_drops(), 0u) << "what comes after the window is not lost";
  EXPECT_EQ(child_.page().asks_shutdown.load(), 1u);
  const rundir::SpoolTrace trace = child_.trace();
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kWindowEnd));
}

}  // namespace
}  // namespace jaxprof::collect
