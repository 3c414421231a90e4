// The collector in a whole process, against the fake CUPTI, whose switches are the ways in which the real one has been
// seen to behave. Each test is one process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "agent/contract/trace_kinds.h"
#include "tests/unit/cupti/gpu_run.h"
#include "tests/unit/cupti/gpu_truth.h"

namespace jaxprof::test {
namespace {

using spool::EventKind;
using testing::HasSubstr;
using testing::IsEmpty;
namespace field = spool::gpu_field;

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

// The spool says so itself: nothing else in it tells a process without CUPTI from one that never used CUDA.
TEST(GpuCollector, LeavesCuptiAloneWhereItIsSwitchedOff) {
  GpuRun run;
  run.plan().cupti = CuptiPolicy::kOff;
  ASSERT_EQ(run.run("--steps 2 --work kernel:3"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(trace.identity().number(spool::IdentityKey::kCupti), static_cast<std::int64_t>(CuptiPolicy::kOff));
  EXPECT_FALSE(trace.gpu().collector);
  EXPECT_TRUE(run.activities(trace, EventKind::kGpuKernel).empty());
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kNone);
  EXPECT_LE(run.count("subscriptions"), 0);
}

// CUPTI is asked for records on a thread of our own, the only one with a stack of 8 MiB.
TEST(GpuCollector, SaysThatItGotNoThread) {
  GpuRun run;
  run.set("LD_PRELOAD=" JAXPROF_THREAD_SHIM);
  run.set("JAXPROF_NO_STACK_BYTES=8388608");
  ASSERT_EQ(run.run("--steps 2 --work kernel:3"), 0);
  EXPECT_EQ(run.log("kernel").size(), 6U) << "the job did all its work";
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kUnavailable);
  EXPECT_EQ(run.note(), "no thread to ask CUPTI for records");
  EXPECT_LE(run.count("subscriptions"), 0) << "nobody would read what it records";
  EXPECT_TRUE(run.activities(run.trace(), EventKind::kGpuKernel).empty());
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

// With their clones they would be 9.6 MB of registrations, and the log of these takes 8 MiB here.
TEST(GpuCollector, RegistersNoneOfAGraphsNodesThatAreNotOfNccl) {
  GpuRun run;
  run.set("FAKE_CUDA_KERNEL_NS=100");
  ASSERT_EQ(run.run("--no-bodies --steps 1 --work graph:20000 --kernel-us 0"), 0);
  const rundir::SpoolTrace trace = run.trace();
  EXPECT_EQ(run.activities(trace, EventKind::kGpuKernel).size(), 20'000U);
  EXPECT_TRUE(trace.gpu().graph_nodes.empty());
  EXPECT_EQ(trace.drop_sum(), 0U);
}

// ---- hardware events

TEST(GpuCollector, HasCuptiUseHardwareEventsWhereTheyAreAskedForByName) {
  for (const std::uint32_t trace : {kDefaultTrace | kTraceHardware, kDefaultTrace}) {
    GpuRun run;
    run.plan().trace = trace;
    run.set("FAKE_CUPTI_HES=1");
    ASSERT_EQ(run.run(kAllWork), 0);
    expect_all_kernels(run, run.trace());
    EXPECT_EQ(run.count("hardware_traces"), trace == kDefaultTrace ? 0 : 1);
    EXPECT_EQ(run.note(), "");
    EXPECT_THAT(run.violations(), IsEmpty());
  }
}

// The switch of the first interface is another function.
TEST(GpuCollector, HasCuptiUseHardwareEventsWhereItIsAlone) {
  GpuRun run;
  run.plan().trace = kDefaultTrace | kTraceHardware;
  run.set("FAKE_CUPTI_HES=1");
  run.set("FAKE_CUPTI_MULTIPLE=0");
  ASSERT_EQ(run.run(kAllWork), 0);
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kAlone);
  EXPECT_EQ(run.count("hardware_traces"), 1);
  EXPECT_EQ(run.note(), "");
}

TEST(GpuCollector, RecordsAsEverWhereAGpuHasNoHardwareEvents) {
  GpuRun run;
  run.plan().trace = kDefaultTrace | kTraceHardware;
  ASSERT_EQ(run.run(kAllWork), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_EQ(run.count("hardware_traces"), 0);
  EXPECT_THAT(run.note(), HasSubstr("no hardware events: not supported"));
  EXPECT_EQ(run.slot().gpu_mode.load(), GpuMode::kShared);
}

TEST(GpuCollector, AsksNoCuptiForHardwareEventsThatDoesThemWrong) {
  GpuRun run;
  run.plan().trace = kDefaultTrace | kTraceHardware;
  run.set("FAKE_CUPTI_HES=1");
  run.set("FAKE_CUPTI_VERSION=130300");
  ASSERT_EQ(run.run(kAllWork), 0);
  expect_all_kernels(run, run.trace());
  EXPECT_EQ(run.count("hardware_traces"), 0);
  EXPECT_EQ(run.note(), "hardware events need CUPTI 13.4.1");
}

// ---- buffers

TEST(GpuCollector, CountsExactlyWhatDidNotFitItsBuffers) {
  GpuRun run;
  run.plan().gpu_buffer_bytes = 0;  // the least: a few
  run.set("FAKE_CUDA_KERNEL_NS=1000");
  run.set("FAKE_CUDA_DELIVERY_US=4000000");  // whatever reads how fast: no buffer of kernels is complete before
  ASSERT_EQ(run.run("--no-bodies --steps 1 --work kernel:30000 --linger-ms 4500"), 0);
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

}  // namespace
}  // namespace jaxprof::test
