// The collector and the window, in a whole process against the fake CUPTI: what is launched inside is recorded, what is
// launched outside is not, and outside of it CUPTI's one place is free.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "agent/contract/trace_kinds.h"
#include "agent/spool/varint.h"
#include "tests/unit/cupti/gpu_run.h"
#include "tests/unit/cupti/gpu_truth.h"

namespace jaxprof::test {
namespace {

using spool::EventKind;
using testing::HasSubstr;
using testing::IsEmpty;
namespace field = spool::gpu_field;

TEST(GpuCollectorWindow, RecordsBetweenTheProfilersStartAndStop) {
  GpuRun run;
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 9 --work kernel:3,sync:1 --profiler 2-3,6-7"), 0);
  const rundir::SpoolTrace trace = run.trace();
  std::set<std::uint64_t> expected;
  for (const LogLine& launch : run.log("launch")) {
    if (launch.at("step") == "2" || launch.at("step") == "3") expected.insert(std::stoull(launch.at("correlation")));
  }
  EXPECT_EQ(expected.size(), 6U);
  EXPECT_EQ(recorded_correlations(run, trace), expected);
  EXPECT_EQ(run.slot().segments.load(), 1U);
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollectorWindow, RecordsEachOfSeveralWindowsAndNothingBetween) {
  GpuRun run;
  run.set("FAKE_CUPTI_LATE_END=1");
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kRepeat;
  ASSERT_EQ(run.run("--steps 12 --work kernel:3 --kernel-us 2000 --profiler 1-2,4-5,9-9"), 0);
  const rundir::SpoolTrace trace = run.trace();
  std::set<std::uint64_t> expected;
  const std::set<std::string> inside = {"1", "2", "4", "5", "9"};
  for (const LogLine& launch : run.log("launch")) {
    if (inside.contains(launch.at("step"))) expected.insert(std::stoull(launch.at("correlation")));
  }
  const std::set<std::uint64_t> recorded = recorded_correlations(run, trace);
  for (const std::uint64_t correlation : expected) EXPECT_TRUE(recorded.contains(correlation)) << correlation;
  // A kernel that was launched before a window and runs in it belongs to it as well; none else does.
  const std::map<KernelKey, LogLine> truth = true_kernels(run);
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    const LogLine& line = truth.at({event.fields[field::kCorrelation], 0});
    EXPECT_EQ(spool::unfold_sign(event.fields[field::kDuration]),
              std::stoll(line.at("end_raw_ns")) - std::stoll(line.at("begin_raw_ns")));
  }
  EXPECT_LT(recorded.size(), truth.size());
  EXPECT_EQ(run.slot().segments.load(), 3U);
}

TEST(GpuCollectorWindow, WaitsForKernelsThatStillRunWhenTheWindowCloses) {
  GpuRun run;
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 3 --work kernel:2 --kernel-us 300000 --profiler 0-0 --linger-ms 500"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(run.activities(trace, EventKind::kGpuKernel).size(), 2U);
  EXPECT_EQ(run.drops(Drop::kGpuWithoutTime), 0U);
  EXPECT_EQ(run.count("abandoned_records"), 0);
}

TEST(GpuCollectorWindow, LeavesThePlaceToTheJobsOwnProfilerOutsideOfTheWindow) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  run.plan().window.delay_ns = 600'000'000;
  ASSERT_EQ(run.run("--steps 2 --period-us 600000 --work kernel:2 --rival late"), 0);
  ASSERT_EQ(run.log("rival").size(), 1U);
  EXPECT_EQ(run.log("rival")[0].at("result"), "0") << "nobody had it then";
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable) << "and at the window the job's has";
  EXPECT_THAT(run.note(), HasSubstr("taken by"));
}

TEST(GpuCollectorWindow, TakesThePlaceWhenTheWindowOpens) {
  GpuRun run;
  run.plan().window.delay_ns = 200'000'000;
  ASSERT_EQ(run.run("--steps 5 --period-us 100000 --work kernel:2,sync:1"), 0);
  const rundir::SpoolTrace trace = run.trace();
  const std::set<std::uint64_t> recorded = recorded_correlations(run, trace);
  EXPECT_FALSE(recorded.empty());
  EXPECT_LT(recorded.size(), 10U);
  EXPECT_FALSE(trace.gpu().devices.empty()) << "of what exists already";
  EXPECT_FALSE(trace.gpu().context_devices.empty());
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kShared);
  EXPECT_THAT(run.violations(), IsEmpty());
}

// The first kernel is launched inside the window and ends after it, the second is launched when all of it has come.
TEST(GpuCollectorWindow, GivesThePlaceBackWhenAllOfTheWindowHasCome) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  run.plan().window.duration_ns = 100'000'000;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 1 --work kernel:1,sync:1,kernel:1 --kernel-us 700000 --rival late"), 0);
  EXPECT_EQ(run.activities(run.trace(), EventKind::kGpuKernel).size(), 1U);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kAlone);
  ASSERT_EQ(run.log("rival").size(), 1U);
  EXPECT_EQ(run.log("rival")[0].at("result"), "0");
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollectorWindow, KeepsThePlaceFromTheBeginningWhereItIsTakenEarly) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  run.plan().cupti = CuptiPolicy::kEarly;
  run.plan().window.delay_ns = 600'000'000;
  ASSERT_EQ(run.run("--steps 2 --period-us 900000 --work kernel:2 --rival late"), 0);
  ASSERT_EQ(run.log("rival").size(), 1U);
  EXPECT_EQ(run.log("rival")[0].at("result"), "39");
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kAlone);
  EXPECT_EQ(recorded_correlations(run, run.trace()), launched_in(run, {"1"}));
}

TEST(GpuCollectorWindow, RecordsWholeGraphsThatWereMadeBeforeIt) {
  GpuRun run;
  run.plan().trace = kDefaultTrace | kTraceGraph;
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 6 --work kernel:2,graph:5 --profiler 2-3"), 0);
  const rundir::SpoolTrace trace = run.trace();
  std::set<std::uint64_t> recorded = recorded_correlations(run, trace);
  EXPECT_EQ(recorded.size(), 4U) << "no kernel of a graph is by itself";
  const std::vector<spool::Event> graphs = run.activities(trace, EventKind::kGpuGraph);
  EXPECT_EQ(graphs.size(), 2U);
  for (const spool::Event& graph : graphs) {
    EXPECT_NE(graph.id, 0U);
    recorded.insert(graph.fields[field::kCorrelation]);
  }
  EXPECT_EQ(recorded, launched_in(run, {"2", "3"}));
  EXPECT_EQ(trace.drop_sum(), 0U);
  EXPECT_THAT(run.violations(), IsEmpty());
}

// The second window begins more than two seconds after the first, whose records have not come yet.
class GpuCollectorReopened : public testing::TestWithParam<const char*> {};
TEST_P(GpuCollectorReopened, MissesNothingWhileRecordsOfTheFirstWindowAreStillToCome) {
  GpuRun run;
  run.set(GetParam());
  run.set("FAKE_CUPTI_LATE_END=1");
  run.set("FAKE_CUDA_DELIVERY_US=2500000");
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kRepeatShutdown;
  run.plan().window.repeat_count = 3;
  ASSERT_EQ(run.run("--steps 2 --period-us 2300000 --work kernel:5 --profiler 0-0,1-1 --linger-ms 600"), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(trace.drop_sum(), 0U);
  EXPECT_EQ(run.slot().segments.load(), 2U);
}
INSTANTIATE_TEST_SUITE_P(Records, GpuCollectorReopened,
                         testing::Values("FAKE_CUPTI_LATE_RECORDS=0", "FAKE_CUPTI_LATE_RECORDS=1"));

TEST(GpuCollectorWindow, OpensWithTheProfilersStartWhereGpusAreNotRecorded) {
  GpuRun run;
  run.plan().trace = kTraceNvtx;
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 9 --work kernel:3 --profiler 2-3"), 0);
  EXPECT_EQ(run.slot().segments.load(), 1U);
  EXPECT_EQ(run.slot().window.load(), WindowState::kDone);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kNone);
  EXPECT_EQ(run.count("subscriptions"), 1);
  EXPECT_EQ(run.count("enables"), 0) << "no kind is";
  EXPECT_EQ(run.count("records"), 0);
  EXPECT_THAT(run.violations(), IsEmpty());
}

// The thread that opens takes the place, and that takes long here. The flusher runs already, and a flush is for all
// that use CUPTI in the process.
TEST(GpuCollectorWindow, AsksForNoRecordsBeforeItHasThePlace) {
  GpuRun run;
  run.set("NVTX_INJECTION64_PATH=" JAXPROF_LIBRARIES "/libjaxprof-agent.so");
  run.set("FAKE_CUPTI_SUBSCRIBE_US=2500000");
  ASSERT_EQ(parse_capture_range("nvtx:step@puppet", &run.plan().window), nullptr);
  ASSERT_EQ(run.run("--steps 1 --work kernel:2"), 0);
  EXPECT_EQ(run.activities(run.trace(), EventKind::kGpuKernel).size(), 2U);
  EXPECT_EQ(run.count("subscriptions"), 1);
  EXPECT_GT(run.count("flushes"), 0);
  EXPECT_EQ(run.count("idle_flushes"), 0);
}

TEST(GpuCollectorWindow, SaysWhyTheProfilersStartIsNotSeen) {
  for (const std::uint32_t trace : {kDefaultTrace, static_cast<std::uint32_t>(kTraceNvtx)}) {
    GpuRun run;
    run.set("FAKE_CUPTI_VERSION_RESULT=999");
    run.plan().trace = trace;
    run.plan().window.kind = WindowKind::kProfiler;
    ASSERT_EQ(run.run("--steps 2 --work kernel:3 --profiler 0-1"), 0);
    EXPECT_EQ(run.slot().segments.load(), 0U);
    EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
    EXPECT_THAT(run.note(), HasSubstr("CUPTI does not start"));
    EXPECT_THAT(run.note(), HasSubstr("the window cannot open"));
  }
}

}  // namespace
}  // namespace jaxprof::test
