// How a process with GPUs ends, in a whole process against the fake CUPTI: whatever it launched is in its spool then,
// or is counted, and a CUPTI that hangs, dies or is forked does the job no harm.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <utility>

#include "tests/unit/cupti/gpu_run.h"
#include "tests/unit/cupti/gpu_truth.h"

namespace jaxprof::test {
namespace {

using spool::EventKind;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
namespace field = spool::gpu_field;

TEST(GpuCollectorEnd, HasTheWorkWhoseRecordsComeLate) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_RECORDS=1");
  run.set("FAKE_CUDA_DELIVERY_US=20000");
  run.set("FAKE_CUDA_DELIVERY_JITTER_US=20000");
  ASSERT_EQ(run.run("--work kernel:20 --steps 5 --streams 2 --kernel-us 1"), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(trace.drop_sum(), 0U);
}

TEST(GpuCollectorEnd, CountsTheWorkWhoseRecordsNeverCome) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_RECORDS=1");
  run.set("FAKE_CUDA_DELIVERY_US=-1");
  ASSERT_EQ(run.run("--work kernel:20 --steps 3"), 0);
  EXPECT_TRUE(run.activities(run.trace(), EventKind::kGpuKernel).empty());
  EXPECT_EQ(run.drops(Drop::kGpuUnflushed), 60U);
}

// One launch has five records, of which the first comes 20 ms before the last.
TEST(GpuCollectorEnd, HasAllWorkOfAGraphWhoseRecordsComeOneByOne) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_RECORDS=1");
  run.set("FAKE_CUDA_DELIVERY_US=20000");
  ASSERT_EQ(run.run("--work capture:5 --steps 3 --kernel-us 5000"), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(trace.drop_sum(), 0U);
}

TEST(GpuCollectorEnd, DoesNotMissTheWorkOfLaunchesThatWereCaptured) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_RECORDS=1");
  ASSERT_EQ(run.run("--work kernel:2,capture:5 --steps 3 --streams 3"), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(trace.drop_sum(), 0U);
}

// The wrapper says stop while CUPTI has all records of a second: they are asked for, and read, before the footer.
TEST(GpuCollectorEnd, HasWhatWasLaunchedBeforeTheRecordingIsStopped) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_RECORDS=1");
  run.set("FAKE_CUDA_DELIVERY_US=150000");
  const std::jthread wrapper([&run](const std::stop_token& end) {
    while (run.log("iteration").size() < 5 && !end.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run.page().stop.store(StopReason::kDeadline);
  });
  ASSERT_EQ(run.run("--work kernel:20 --steps 5 --kernel-us 1 --linger-ms 2500"), 0);
  const rundir::SpoolTrace trace = run.trace();
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kDeadline));
  expect_all_kernels(run, trace);
  EXPECT_EQ(trace.drop_sum(), 0U);
}

TEST(GpuCollectorEnd, CountsWhatAHangingCuptiKeepsWhenTheRecordingIsStopped) {
  GpuRun run;
  run.set("FAKE_CUPTI_FLUSH_HANG=1");
  const std::jthread wrapper([&run](const std::stop_token& end) {
    while (run.log("iteration").size() < 3 && !end.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run.page().stop.store(StopReason::kDeadline);
  });
  ASSERT_EQ(run.run("--work kernel:20 --steps 3 --kernel-us 1 --linger-ms 3000"), 0);
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U);
  const rundir::SpoolTrace trace = run.trace();
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kDeadline));
}

TEST(GpuCollectorEnd, LosesOnlyTheTimeoutToACuptiThatHangs) {
  GpuRun run;
  run.set("FAKE_CUPTI_FLUSH_HANG=1");
  const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
  ASSERT_EQ(run.run("--steps 2"), 0);
  EXPECT_LT(clock_ns(CLOCK_MONOTONIC) - begin, 30'000'000'000);
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U);
  EXPECT_THAT(run.note(), HasSubstr("did not come back from its last flush"));
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

// The window is open until exit(), and kinds are disabled then.
TEST(GpuCollectorEnd, LosesOnlyTheTimeoutToACuptiThatCannotBeDisabled) {
  GpuRun run;
  run.set("FAKE_CUPTI_DISABLE_HANG=1");
  ASSERT_EQ(run.run("--steps 2 --exit exit --exit-code 7"), 7);
  const rundir::SpoolTrace trace = run.trace();
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

TEST(GpuCollectorEnd, EndsTheRecordingBesideACuptiThatCannotBeDisabled) {
  GpuRun run;
  run.set("FAKE_CUPTI_DISABLE_HANG=1");
  const std::jthread wrapper([&run](const std::stop_token& end) {
    while (run.log("iteration").size() < 3 && !end.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run.page().stop.store(StopReason::kDeadline);
  });
  ASSERT_EQ(run.run("--steps 3 --linger-ms 3000"), 0);
  const rundir::SpoolTrace trace = run.trace();
  ASSERT_TRUE(trace.footer());
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kDeadline));
}

TEST(GpuCollectorEnd, CallsCuptiOnlyOnThreadsWithTheDriversDescriptors) {
  GpuRun run;
  run.plan().window.delay_ns = 100'000'000;
  run.plan().window.duration_ns = 1'500'000'000;
  const std::jthread wrapper([&run](const std::stop_token& end) {
    while (run.log("iteration").size() < 20 && !end.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    run.page().stop.store(StopReason::kDeadline);
  });
  ASSERT_EQ(run.run("--steps 20 --period-us 50000 --work kernel:2 --linger-ms 500"), 0);
  EXPECT_GT(run.count("enables"), 0);
  EXPECT_GT(run.count("disables"), 0);
  EXPECT_GT(run.count("flushes"), 0);
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollectorEnd, EndsWithCuptiWhereThatEndsItself) {
  GpuRun run;
  run.set("FAKE_CUPTI_FATAL_AFTER=10");
  ASSERT_EQ(run.run("--steps 5 --work kernel:10"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("CUPTI met a fatal error"));
  EXPECT_THAT(run.note(), Not(HasSubstr("recorded until then"))) << "it still had all";
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U) << "of what it had";
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

// What is in the slot's gpu_buffers_held is added to what was lost by whoever sees the process killed.
TEST(GpuCollectorEnd, CountsBuffersOnceWhereTheProcessIsKilledLater) {
  GpuRun run;
  run.set("FAKE_CUPTI_FATAL_AFTER=10");
  ASSERT_EQ(run.run("--steps 5 --work kernel:10 --linger-ms 2500 --exit kill"), 128 + SIGKILL);
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U);
  EXPECT_EQ(run.slot().gpu_buffers_held.load(), 0U);
}

TEST(GpuCollectorEnd, TellsOfBuffersThatAProcessTakesWithIt) {
  GpuRun run;
  ASSERT_EQ(run.run("--steps 5 --work kernel:10 --exit kill"), 128 + SIGKILL);
  EXPECT_EQ(run.drops(Drop::kGpuUnflushed), 0U);
  EXPECT_GT(run.slot().gpu_buffers_held.load(), 0U);
}

TEST(GpuCollectorEnd, CallsNothingInAForkedChild) {
  GpuRun run;
  run.set("FAKE_CUPTI_FORK_HANG=1");
  ASSERT_EQ(run.run("--steps 4 --fork-at 2"), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_THAT(run.violations(), IsEmpty());
}

// None of these runs the agent's exit handler: what was there a second before is.
using Exit = std::pair<const char*, int>;  // the puppet's way, and its status
class GpuCollectorKilled : public testing::TestWithParam<Exit> {};
TEST_P(GpuCollectorKilled, KeepsWhatItHad) {
  GpuRun run;
  const std::string options = "--steps 4 --work kernel:5 --linger-ms 2500 --exit ";
  ASSERT_EQ(run.run(options + GetParam().first), GetParam().second);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_FALSE(trace.footer());
  EXPECT_EQ(trace.drop_sum(), 0U);
}
INSTANTIATE_TEST_SUITE_P(Exits, GpuCollectorKilled,
                         testing::Values(Exit{"kill", 128 + SIGKILL}, Exit{"term", 128 + SIGTERM}, Exit{"_exit", 0}));

// A client that never subscribes registers its buffers, and takes ours with them.
TEST(GpuCollectorEnd, CountsTheBuffersThatAnotherClientHasTaken) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  ASSERT_EQ(run.run("--steps 4 --work kernel:5 --rival register"), 0);
  ASSERT_EQ(run.log("rival").size(), 2U);
  EXPECT_EQ(run.log("rival")[0].at("result"), "0");
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U);
  EXPECT_THAT(run.note(), HasSubstr("another client"));
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

TEST(GpuCollectorEnd, SurvivesAStepOfTheClock) {
  GpuRun run;
  run.set("FAKE_CUDA_CLOCK_STEP_NS=-50000000");
  run.set("FAKE_CUDA_CLOCK_STEP_AT_MS=30");
  ASSERT_EQ(run.run("--steps 20 --period-us 5000 --work kernel:5"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(run.activities(trace, EventKind::kGpuKernel).size(), true_kernels(run).size());
}

}  // namespace
}  // namespace jaxprof::test
