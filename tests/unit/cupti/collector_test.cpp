// The collector in a whole process, against the fake CUPTI, whose switches are the ways in which the real one has been
// seen to behave. Each test is one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "agent/spool/varint.h"
#include "tests/unit/cupti/gpu_run.h"

namespace jaxprof::test {
namespace {

using spool::EventKind;
using testing::HasSubstr;
using testing::IsEmpty;
namespace field = spool::gpu_field;

// What tells one run of a kernel from another in both logs: launch and graph node.
using KernelKey = std::pair<std::uint64_t, std::uint64_t>;

std::map<KernelKey, LogLine> true_kernels(const GpuRun& run) {
  std::map<KernelKey, LogLine> kernels;
  for (const LogLine& line : run.log("kernel")) {
    kernels[{std::stoull(line.at("correlation")), std::stoull(line.at("graph_node"))}] = line;
  }
  return kernels;
}

// Every kernel of the truth is recorded once, with its name and its times.
void expect_all_kernels(const GpuRun& run, const rundir::SpoolTrace& trace) {
  std::map<KernelKey, LogLine> truth = true_kernels(run);
  ASSERT_FALSE(truth.empty());
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    const auto found = truth.find({event.fields[field::kCorrelation], event.fields[field::kKernelGraphNode]});
    ASSERT_NE(found, truth.end()) << "a kernel that never ran, or twice: " << trace.text(event.id);
    const LogLine& line = found->second;
    EXPECT_EQ(trace.text(event.id), line.at("name"));
    EXPECT_EQ(spool::unfold_sign(event.fields[field::kDuration]),
              std::stoll(line.at("end_raw_ns")) - std::stoll(line.at("begin_raw_ns")));
    EXPECT_NEAR(static_cast<double>(event.stamp), std::stod(line.at("begin_realtime_ns")), 1e6);
    const spool::GpuLaneState* lane = trace.gpu().lane(event.fields[field::kLane]);
    ASSERT_NE(lane, nullptr);
    EXPECT_EQ(std::to_string(lane->stream), line.at("stream"));
    EXPECT_EQ(std::to_string(lane->device), line.at("device"));
    truth.erase(found);
  }
  EXPECT_TRUE(truth.empty()) << truth.size() << " kernels are missing";
}

std::set<std::uint64_t> recorded_correlations(const GpuRun& run, const rundir::SpoolTrace& trace) {
  std::set<std::uint64_t> found;
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    found.insert(event.fields[field::kCorrelation]);
  }
  return found;
}

constexpr const char* kAllWork = "--steps 4 --streams 2 --work kernel:3,copy:1,fill:1,graph:3,runtime:1,sync:1";

TEST(GpuCollector, RecordsAllThatGpusDid) {
  GpuRun run;
  run.set("FAKE_CUDA_DEVICES=2");
  ASSERT_EQ(run.run(std::string(kAllWork) + " --devices 2 --threads 2"), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(run.activities(trace, EventKind::kGpuMemcpy).size(), run.log("copy").size());
  EXPECT_EQ(run.activities(trace, EventKind::kGpuMemset).size(), run.log("fill").size());
  std::set<std::string> calls;
  for (const spool::Event& call : run.activities(trace, EventKind::kGpuApi)) {
    calls.insert(std::string(trace.text(trace.gpu().api_names.at(call.id))));
    EXPECT_NE(call.fields[field::kApiTid], 0U);
  }
  for (const char* name : {"cuLaunchKernel", "cuGraphLaunch", "cuStreamSynchronize"})
    EXPECT_TRUE(calls.contains(name)) << name;
  EXPECT_FALSE(calls.contains("cuCtxSetCurrent"));
  EXPECT_EQ(trace.gpu().devices.size(), 2U);
  EXPECT_FALSE(trace.gpu().streams.empty());
  EXPECT_GE(trace.gpu().clocks.size(), 2U) << "at the opening and at the close";
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kShared);
  EXPECT_EQ(run.slot().cupti_version.load(), 130500U);
  EXPECT_EQ(run.note(), "");
  EXPECT_EQ(trace.drop_sum(), 0U);
  EXPECT_EQ(trace.footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
  EXPECT_THAT(run.violations(), IsEmpty());
  EXPECT_EQ(run.count("finalize_calls"), 0);
  EXPECT_EQ(run.count("timestamp_callbacks"), 0);
  EXPECT_EQ(run.count("null_buffers"), 0);
}

struct Version {
  const char* library;
  const char* number;
  GpuMode mode;
};
class GpuCollectorVersion : public testing::TestWithParam<Version> {};

TEST_P(GpuCollectorVersion, RecordsAllThatGpusDid) {
  GpuRun run;
  if (GetParam().library[0] != '\0') run.use_libcupti(GetParam().library);
  run.set(std::string("FAKE_CUPTI_VERSION=") + GetParam().number);
  ASSERT_EQ(run.run(kAllWork), 0);
  const rundir::SpoolTrace trace = run.trace();
  expect_all_kernels(run, trace);
  EXPECT_EQ(run.slot().gpu_mode.load(), GetParam().mode);
  EXPECT_EQ(std::to_string(run.slot().cupti_version.load()), GetParam().number);
  for (const spool::Event& call : run.activities(trace, EventKind::kGpuApi)) {
    EXPECT_NE(trace.text(trace.gpu().api_names.at(call.id)), "cuCtxSetCurrent");
  }
  EXPECT_THAT(run.violations(), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(Cuda, GpuCollectorVersion,
                         testing::Values(Version{"fake_cuda/libcupti.so.12", "22", GpuMode::kAlone},
                                         Version{"fake_cupti_13_0/libcupti.so.13", "130001", GpuMode::kAlone},
                                         Version{"", "130101", GpuMode::kAlone},
                                         Version{"", "130300", GpuMode::kShared}));

TEST(GpuCollector, UsesACuptiThatIsNewerThanItKnows) {
  GpuRun run;
  run.set("FAKE_CUPTI_VERSION=140000");
  ASSERT_EQ(run.run(kAllWork), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_THAT(run.note(), HasSubstr("newer than this jaxprof"));
  EXPECT_GT(run.drops(Drop::kGpuUnknownKind), 0U);
}

// ---- buffers

TEST(GpuCollector, CountsExactlyWhatDidNotFitItsBuffers) {
  GpuRun run;
  run.plan().gpu_buffer_bytes = 0;  // the least: a few
  run.set("FAKE_CUDA_KERNEL_NS=1000");
  ASSERT_EQ(run.run("--no-bodies --steps 1 --work kernel:30000"), 0);
  std::uint64_t events = 0;
  run.trace().for_each_activity([&](const spool::Event&) { ++events; });
  EXPECT_GT(run.drops(Drop::kGpuBuffersFull), 0U);
  // A kernel and a call each, and what a buffer costs besides: overhead, waits, devices, contexts and streams.
  const std::uint64_t all = events + run.drops(Drop::kGpuBuffersFull) + run.drops(Drop::kGpuDropped);
  EXPECT_GE(all, 60000U);
  EXPECT_LE(all, 60200U);
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollector, KeepsUpWithBuffersOfEachThreadAndWithRecordsOutOfOrder) {
  GpuRun run;
  run.set("FAKE_CUPTI_PER_THREAD=1");
  run.set("FAKE_CUDA_DELIVERY_US=300");
  run.set("FAKE_CUDA_DELIVERY_JITTER_US=2000");
  ASSERT_EQ(run.run("--steps 5 --threads 4 --streams 2 --work kernel:8"), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_EQ(run.drops(Drop::kGpuWithoutTime), 0U);
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollector, CountsWhatCuptiDropped) {
  GpuRun run;
  run.set("FAKE_CUPTI_DROP_EVERY=7");
  ASSERT_EQ(run.run("--steps 5 --work kernel:50"), 0);
  EXPECT_GT(run.drops(Drop::kGpuDropped), 0U);
  EXPECT_EQ(static_cast<std::int64_t>(run.drops(Drop::kGpuDropped)), run.count("dropped_records"));
}

TEST(GpuCollector, KeepsRecordsWithoutTimes) {
  GpuRun run;
  run.set("FAKE_CUPTI_ZERO_EVERY=5");
  ASSERT_EQ(run.run("--steps 5 --work kernel:20"), 0);
  const rundir::SpoolTrace trace = run.trace();
  std::uint64_t without_time = 0;
  const std::vector<spool::Event> kernels = run.activities(trace, EventKind::kGpuKernel);
  for (const spool::Event& event : kernels) without_time += event.stamp == 0 ? 1 : 0;
  EXPECT_EQ(kernels.size(), 100U);
  EXPECT_EQ(without_time, 20U);
  EXPECT_EQ(run.drops(Drop::kGpuWithoutTime), 20U);
}

TEST(GpuCollector, KnowsKernelsWhoseModulesAreGone) {
  GpuRun run;
  run.set("FAKE_CUDA_POISON_NAMES=1");
  ASSERT_EQ(run.run("--steps 6 --work kernel:2,module:3"), 0);
  const rundir::SpoolTrace trace = run.trace();
  for (const spool::Event& event : run.activities(trace, EventKind::kGpuKernel)) {
    EXPECT_THAT(std::string(trace.text(event.id)), testing::Not(HasSubstr("poison")));
  }
}

TEST(GpuCollector, HoldsNoLockThatItsCallbacksWant) {
  GpuRun run;
  run.set("FAKE_CUPTI_CROSS_THREAD=1");
  ASSERT_EQ(run.run(kAllWork), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_EQ(run.count("lock_across"), 0);
  EXPECT_THAT(run.violations(), IsEmpty());
}

// ---- the place with CUPTI

TEST(GpuCollector, LeavesTheJobAloneWhereAnotherToolHasTheProcess) {
  GpuRun run;
  run.set("FAKE_CUDA_SLOT_HELD=1");
  ASSERT_EQ(run.run(kAllWork), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("CUPTI's one place is taken by"));
  EXPECT_TRUE(run.activities(run.trace(), EventKind::kGpuKernel).empty());
}

TEST(GpuCollector, NamesTheSubscriberThatWasThereFirst) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  ASSERT_EQ(run.run("--steps 2 --rival subscribe"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("taken by"));
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

TEST(GpuCollector, IsBesideTheJobsOwnProfilerWhereBothShare) {
  GpuRun run;
  ASSERT_EQ(run.run("--steps 4 --work kernel:4 --rival multiple"), 0);
  expect_all_kernels(run, run.trace());
  ASSERT_EQ(run.log("rival").size(), 1U);
  EXPECT_EQ(run.count("refused_subscriptions"), 0);
}

TEST(GpuCollector, FallsBackToTheFirstInterfaceWithAnOldDriver) {
  for (const char* entry : {"FAKE_CUPTI_V2_RESULT=27", "FAKE_CUPTI_MULTIPLE=0"}) {
    GpuRun run;
    run.set(entry);
    ASSERT_EQ(run.run("--steps 2 --work kernel:2"), 0);
    expect_all_kernels(run, run.trace());
    EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kAlone) << entry;
  }
}

TEST(GpuCollector, SaysWhichPrivilegesAreMissing) {
  GpuRun run;
  run.set("FAKE_CUPTI_ENABLE_RESULT=35");
  run.set("FAKE_CUPTI_ENABLE_RESULT_KIND=10");
  ASSERT_EQ(run.run("--steps 2"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("NVreg_RestrictProfilingToAdminUsers=0"));
}

TEST(GpuCollector, TrustsNoneOfTwoCopies) {
  GpuRun run;
  run.set("JAXPROF_LIBCUPTI=" JAXPROF_LIBRARIES "/fake_cuda/libcupti.so.13");
  ASSERT_EQ(run.run("--steps 2 --load " JAXPROF_LIBRARIES "/fake_cupti_13_0/libcupti.so.13"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("two copies of libcupti in one process"));
  const rundir::SpoolTrace trace = run.trace();  // the slot has no room for both paths
  const std::string note(trace.text(trace.gpu().collector->note));
  EXPECT_THAT(note, HasSubstr("/fake_cuda/libcupti.so.13"));
  EXPECT_THAT(note, HasSubstr("/fake_cupti_13_0/libcupti.so.13"));
}

TEST(GpuCollector, DoesNothingWhereGpusAreNotWanted) {
  GpuRun run;
  run.plan().cupti = CuptiPolicy::kOff;
  ASSERT_EQ(run.run("--steps 2"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kNone);
  EXPECT_EQ(run.count("subscriptions"), -1) << "CUPTI is not even loaded";
}

// ---- windows

TEST(GpuCollector, RecordsBetweenTheProfilersStartAndStop) {
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

TEST(GpuCollector, RecordsEachOfSeveralWindowsAndNothingBetween) {
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

TEST(GpuCollector, WaitsForKernelsThatStillRunWhenTheWindowCloses) {
  GpuRun run;
  run.plan().window.kind = WindowKind::kProfiler;
  run.plan().window.end = WindowEnd::kStop;
  ASSERT_EQ(run.run("--steps 3 --work kernel:2 --kernel-us 300000 --profiler 0-0 --linger-ms 500"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(run.activities(trace, EventKind::kGpuKernel).size(), 2U);
  EXPECT_EQ(run.drops(Drop::kGpuWithoutTime), 0U);
  EXPECT_EQ(run.count("abandoned_records"), 0);
}

TEST(GpuCollector, LeavesThePlaceToTheJobsOwnProfilerOutsideOfTheWindow) {
  GpuRun run;
  run.use_libcupti("fake_cupti_13_0/libcupti.so.13");
  run.plan().window.delay_ns = 600'000'000;
  ASSERT_EQ(run.run("--steps 2 --period-us 600000 --work kernel:2 --rival late"), 0);
  ASSERT_EQ(run.log("rival").size(), 1U);
  EXPECT_EQ(run.log("rival")[0].at("result"), "0") << "nobody had it then";
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable) << "and at the window the job's has";
  EXPECT_THAT(run.note(), HasSubstr("taken by"));
}

TEST(GpuCollector, TakesThePlaceWhenTheWindowOpens) {
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
}

// ---- the end

TEST(GpuCollector, LosesOnlyTheTimeoutToACuptiThatHangs) {
  GpuRun run;
  run.set("FAKE_CUPTI_FLUSH_HANG=1");
  const std::int64_t begin = clock_ns(CLOCK_MONOTONIC);
  ASSERT_EQ(run.run("--steps 2"), 0);
  EXPECT_LT(clock_ns(CLOCK_MONOTONIC) - begin, 30'000'000'000);
  EXPECT_GT(run.drops(Drop::kGpuUnflushed), 0U);
  EXPECT_THAT(run.note(), HasSubstr("did not come back from its last flush"));
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

TEST(GpuCollector, EndsWithCuptiWhereThatEndsItself) {
  GpuRun run;
  run.set("FAKE_CUPTI_FATAL_AFTER=10");
  ASSERT_EQ(run.run("--steps 5 --work kernel:10"), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_THAT(run.note(), HasSubstr("CUPTI met a fatal error"));
  EXPECT_EQ(run.trace().footer()->record.reason, static_cast<std::uint32_t>(spool::FooterReason::kExit));
}

TEST(GpuCollector, CallsNothingInAForkedChild) {
  GpuRun run;
  run.set("FAKE_CUPTI_FORK_HANG=1");
  ASSERT_EQ(run.run("--steps 4 --fork-at 2"), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_THAT(run.violations(), IsEmpty());
}

TEST(GpuCollector, KeepsWhatItHadWhenTheProcessIsKilled) {
  GpuRun run;
  ASSERT_EQ(run.run("--steps 4 --work kernel:5 --linger-ms 2500 --exit kill"), 128 + SIGKILL);
  expect_all_kernels(run, run.trace());
}

TEST(GpuCollector, SurvivesAStepOfTheClock) {
  GpuRun run;
  run.set("FAKE_CUDA_CLOCK_STEP_NS=-50000000");
  run.set("FAKE_CUDA_CLOCK_STEP_AT_MS=30");
  ASSERT_EQ(run.run("--steps 20 --period-us 5000 --work kernel:5"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(run.activities(trace, EventKind::kGpuKernel).size(), true_kernels(run).size());
}

}  // namespace
}  // namespace jaxprof::test
