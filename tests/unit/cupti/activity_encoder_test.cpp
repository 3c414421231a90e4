#include "agent/cupti/activity_encoder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "agent/spool/varint.h"
#include "tests/unit/cupti/record_buffer.h"
#include "tests/unit/cupti/sink_double.h"

namespace jaxprof::cupti {
namespace {

using spool::EventKind;
using test::make_call;
using test::make_kernel;
using test::record_of;
using testing::ElementsAre;

abi::Result name_of_call(abi::Domain domain, std::uint32_t id, const char** name) {
  *name = domain == abi::kRuntimeApi ? "cudaSomething" : "cuSomething";
  return id != 0 ? abi::kSuccess : abi::kInvalidParameter;
}

class ActivityEncoderTest : public testing::Test {
 protected:
  ActivityEncoderTest() {
    EXPECT_TRUE(encoder_->open(name_of_call, &spans_));
    out_.begin(0, 0);
  }

  template <typename T>
  bool add(const T& record) {
    return encoder_->add(static_cast<std::uint32_t>(record.kind), record_of(record), &out_);
  }
  // As a CUPTI whose records of this kind end after so many bytes.
  template <typename T>
  bool add_cut(const T& record, std::size_t bytes) {
    return encoder_->add(static_cast<std::uint32_t>(record.kind), {record_of(record).at, bytes}, &out_);
  }

  std::vector<spool::Event> events() const {
    std::vector<spool::Event> found;
    spool::EventDecoder decoder(buffer_.data(), out_.size());
    for (spool::Event event; decoder.next(&event);) found.push_back(event);
    EXPECT_FALSE(decoder.is_damaged());
    EXPECT_EQ(found.size(), out_.event_count());
    return found;
  }
  static std::int64_t duration(const spool::Event& event) {
    return spool::unfold_sign(event.fields[spool::gpu_field::kDuration]);
  }

  test::SinkDouble sink_;
  KeptSpans spans_;
  std::unique_ptr<ActivityEncoder> encoder_ = std::make_unique<ActivityEncoder>();
  std::vector<std::uint8_t> buffer_ = std::vector<std::uint8_t>(64 << 10);
  spool::EventEncoder out_{buffer_.data(), buffer_.size()};
};

TEST_F(ActivityEncoderTest, WritesAllOfAKernel) {
  ASSERT_TRUE(add(make_kernel<CUpti_ActivityKernel13>("ncclDevKernel_AllReduce", 1000, 6000, 42)));
  const spool::Event event = events().at(0);
  EXPECT_EQ(event.kind, EventKind::kGpuKernel);
  EXPECT_EQ(sink_.text(event.id), "ncclDevKernel_AllReduce");
  EXPECT_EQ(event.stamp, 1000U);
  EXPECT_EQ(duration(event), 5000);
  EXPECT_EQ(event.fields[spool::gpu_field::kCorrelation], 42U);
  EXPECT_EQ(event.fields[spool::gpu_field::kKernelGraphNode], (3ULL << 32) | 5);
  EXPECT_EQ(event.fields[spool::gpu_field::kKernelGraph], 3U);
  EXPECT_EQ(event.fields[spool::gpu_field::kKernelChannel], 9U);

  const auto lanes = sink_.states<spool::GpuLaneState>(spool::StateKind::kGpuLane);
  ASSERT_EQ(lanes.size(), 1U);
  EXPECT_EQ(lanes[0].lane, event.fields[spool::gpu_field::kLane]);
  EXPECT_EQ(lanes[0].device, 1U);
  EXPECT_EQ(lanes[0].context, 2U);
  EXPECT_EQ(lanes[0].stream, 7U);
  const auto configs = sink_.states<spool::LaunchConfigState>(spool::StateKind::kLaunchConfig);
  ASSERT_EQ(configs.size(), 1U);
  EXPECT_EQ(configs[0].config, event.fields[spool::gpu_field::kKernelConfig]);
  EXPECT_THAT(configs[0].grid, ElementsAre(132, 2, 1));
  EXPECT_THAT(configs[0].block, ElementsAre(256, 1, 1));
  EXPECT_THAT(configs[0].cluster, ElementsAre(2, 1, 1));
  EXPECT_EQ(configs[0].registers, 48U);
  EXPECT_EQ(configs[0].static_shared_bytes, 1024U);
  EXPECT_EQ(configs[0].dynamic_shared_bytes, 98304U);
  EXPECT_EQ(configs[0].local_bytes, 16U);
}

TEST_F(ActivityEncoderTest, ReadsEachVersionOfTheKernelAlike) {
  add(make_kernel<CUpti_ActivityKernel9>("k", 1000, 1500, 1));
  add(make_kernel<CUpti_ActivityKernel10>("k", 1000, 1500, 1));
  add(make_kernel<CUpti_ActivityKernel11>("k", 1000, 1500, 1));
  add(make_kernel<CUpti_ActivityKernel12>("k", 1000, 1500, 1));
  add(make_kernel<CUpti_ActivityKernel13>("k", 1000, 1500, 1));
  const std::vector<spool::Event> found = events();
  ASSERT_EQ(found.size(), 5U);
  for (const spool::Event& event : found) {
    EXPECT_EQ(event.id, found[0].id);
    EXPECT_THAT(event.fields, testing::ElementsAreArray(found[0].fields));
  }
}

TEST_F(ActivityEncoderTest, TakesFieldsBeyondTheRecordsEndAsMissing) {
  const auto kernel = make_kernel<CUpti_ActivityKernel13>("k", 1000, 1500, 1);
  ASSERT_TRUE(add_cut(kernel, 144));  // before the graph's node
  ASSERT_TRUE(add_cut(kernel, 151));  // in the middle of it
  ASSERT_TRUE(add_cut(kernel, 152));  // behind it
  const std::vector<spool::Event> found = events();
  EXPECT_EQ(found[0].fields[spool::gpu_field::kKernelGraphNode], 0U);
  EXPECT_EQ(found[1].fields[spool::gpu_field::kKernelGraphNode], 0U);
  EXPECT_EQ(found[2].fields[spool::gpu_field::kKernelGraphNode], (3ULL << 32) | 5);
  EXPECT_EQ(found[2].fields[spool::gpu_field::kKernelChannel], 0U);
  EXPECT_THAT(sink_.states<spool::LaunchConfigState>(spool::StateKind::kLaunchConfig).at(0).cluster,
              ElementsAre(0, 0, 0));
}

TEST_F(ActivityEncoderTest, RegistersALaneAndAConfigurationOnce) {
  for (std::uint32_t i = 0; i < 100; ++i) {
    auto kernel = make_kernel<CUpti_ActivityKernel10>("k", 1000 + i, 2000 + i, i);
    kernel.streamId = 7 + i % 2;
    kernel.gridX = static_cast<int>(1 + i % 3);
    add(kernel);
  }
  EXPECT_EQ(sink_.states<spool::GpuLaneState>(spool::StateKind::kGpuLane).size(), 2U);
  EXPECT_EQ(sink_.states<spool::LaunchConfigState>(spool::StateKind::kLaunchConfig).size(), 3U);
}

TEST_F(ActivityEncoderTest, KeepsARecordWithoutTimesAndCountsIt) {
  ASSERT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("k", 0, 0, 5)));
  ASSERT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("k", 1000, 0, 6)));
  for (const spool::Event& event : events()) {
    EXPECT_EQ(event.stamp, 0U);
    EXPECT_EQ(duration(event), 0);
  }
  EXPECT_EQ(sink_.drops(Drop::kGpuWithoutTime), 2U);
}

TEST_F(ActivityEncoderTest, KeepsAnEndBeforeItsStart) {
  ASSERT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("k", 5000, 4900, 5)));
  EXPECT_EQ(duration(events().at(0)), -100);
  EXPECT_EQ(sink_.drops(Drop::kGpuWithoutTime), 0U);
}

TEST_F(ActivityEncoderTest, WritesCopiesWithTheirDirectionAndSize) {
  CUpti_ActivityMemcpy6 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY;
  copy.copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
  copy.srcKind = CUPTI_ACTIVITY_MEMORY_KIND_PINNED;
  copy.dstKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  copy.flags = CUPTI_ACTIVITY_FLAG_MEMCPY_ASYNC;
  copy.bytes = 1 << 20;
  copy.start = 100;
  copy.end = 300;
  copy.correlationId = 8;
  copy.graphNodeId = 77;
  copy.graphId = 4;
  ASSERT_TRUE(add(copy));
  const spool::Event event = events().at(0);
  EXPECT_EQ(event.kind, EventKind::kGpuMemcpy);
  EXPECT_EQ(event.id, 1U | 2U << 8 | 3U << 16 | 1U << 24);
  EXPECT_EQ(duration(event), 200);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemcpyBytes], 1U << 20);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemcpyGraphNode], 77U);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemcpyGraph], 4U);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemcpyPeer], 0U);
}

TEST_F(ActivityEncoderTest, NamesTheOtherEndOfACopyBetweenGpus) {
  CUpti_ActivityMemcpyPtoP4 copy{};
  copy.kind = CUPTI_ACTIVITY_KIND_MEMCPY2;
  copy.start = 100;
  copy.end = 300;
  copy.deviceId = 2;
  copy.srcDeviceId = 2;
  copy.dstDeviceId = 5;
  copy.correlationId = 31;
  ASSERT_TRUE(add(copy));
  copy.srcDeviceId = 0;
  copy.dstDeviceId = 2;
  ASSERT_TRUE(add(copy));
  EXPECT_EQ(events()[0].fields[spool::gpu_field::kMemcpyPeer], 1U + 5);
  EXPECT_EQ(events()[0].fields[spool::gpu_field::kCorrelation], 31U);
  EXPECT_EQ(events()[1].fields[spool::gpu_field::kMemcpyPeer], 1U + 0);
}

TEST_F(ActivityEncoderTest, WritesMemsets) {
  CUpti_ActivityMemset4 memset{};
  memset.kind = CUPTI_ACTIVITY_KIND_MEMSET;
  memset.value = 0xff;
  memset.bytes = 4096;
  memset.start = 100;
  memset.end = 130;
  memset.flags = 1;
  memset.memoryKind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
  ASSERT_TRUE(add(memset));
  const spool::Event event = events().at(0);
  EXPECT_EQ(event.id, 3U | 1U << 16);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemsetBytes], 4096U);
  EXPECT_EQ(event.fields[spool::gpu_field::kMemsetValue], 0xffU);
}

TEST_F(ActivityEncoderTest, NamesACallOnceByItsInterface) {
  add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 100, 1));
  add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 200, 2));
  auto failed = make_call(CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, 300, 3);
  failed.returnValue = 719;
  add(failed);
  const std::vector<spool::Event> found = events();
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found[0].id, static_cast<std::uint32_t>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  EXPECT_EQ(found[0].fields[spool::gpu_field::kApiTid], 4711U);
  EXPECT_EQ(found[0].field_count, 3U);
  EXPECT_EQ(found[2].id, spool::gpu_field::kRuntimeApi | CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000);
  EXPECT_EQ(found[2].fields[spool::gpu_field::kApiResult], 719U);
  const auto names = sink_.states<spool::GpuApiState>(spool::StateKind::kGpuApi);
  ASSERT_EQ(names.size(), 2U);
  EXPECT_EQ(sink_.text(names[0].name), "cuSomething");
  EXPECT_EQ(sink_.text(names[1].name), "cudaSomething");
}

TEST_F(ActivityEncoderTest, LeavesOutCallsThatAreNotRecorded) {
  EXPECT_FALSE(add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuCtxGetCurrent, 100, 1)));
  EXPECT_FALSE(add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, 900000, 100, 1)));
  EXPECT_TRUE(events().empty());
}

TEST_F(ActivityEncoderTest, WritesWhatWasSlowedDownAndForWhom) {
  CUpti_ActivityOverhead3 overhead{};
  overhead.kind = CUPTI_ACTIVITY_KIND_OVERHEAD;
  overhead.overheadKind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING;
  overhead.objectKind = CUPTI_ACTIVITY_OBJECT_THREAD;
  overhead.objectId.pt.processId = 1;
  overhead.objectId.pt.threadId = 99;
  overhead.start = 50;
  overhead.end = 90;
  overhead.correlationId = 12;
  ASSERT_TRUE(add(overhead));
  const spool::Event event = events().at(0);
  EXPECT_EQ(event.id, static_cast<std::uint32_t>(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING));
  EXPECT_EQ(event.fields[spool::gpu_field::kOverheadObject], 99U);
  EXPECT_EQ(event.fields[spool::gpu_field::kCorrelation], 12U);
  EXPECT_EQ(event.fields[spool::gpu_field::kOverheadObjectKind], 2U);
}

TEST_F(ActivityEncoderTest, WritesGraphsSynchronisationEventsAndExternalCorrelation) {
  CUpti_ActivityGraphTrace2 graph{};
  graph.kind = CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
  graph.start = 10;
  graph.end = 40;
  graph.graphId = 6;
  graph.correlationId = 3;
  ASSERT_TRUE(add(graph));
  CUpti_ActivitySynchronization2 wait{};
  wait.kind = CUPTI_ACTIVITY_KIND_SYNCHRONIZATION;
  wait.type = CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE;
  wait.start = 10;
  wait.end = 40;
  wait.contextId = 2;
  wait.streamId = 7;
  ASSERT_TRUE(add(wait));
  CUpti_ActivityCudaEvent3 event{};
  event.kind = CUPTI_ACTIVITY_KIND_CUDA_EVENT;
  event.eventId = 11;
  event.contextId = 2;
  event.streamId = 7;
  event.deviceTimestamp = 1234;
  ASSERT_TRUE(add(event));
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0;
  external.externalId = (1ULL << 36) | 4;
  external.correlationId = 3;
  ASSERT_TRUE(add(external));
  const std::vector<spool::Event> found = events();
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].kind, EventKind::kGpuGraph);
  EXPECT_EQ(found[0].id, 6U);
  EXPECT_EQ(found[1].kind, EventKind::kGpuSynchronization);
  EXPECT_EQ(found[1].id, 3U);
  EXPECT_EQ(found[1].fields[spool::gpu_field::kSyncStream], 7U);
  EXPECT_EQ(found[2].kind, EventKind::kGpuEvent);
  EXPECT_EQ(found[2].stamp, 1234U);
  EXPECT_EQ(found[3].kind, EventKind::kGpuExternal);
  EXPECT_EQ(found[3].fields[spool::gpu_field::kExternalHandle], (1ULL << 36) | 4);
  EXPECT_EQ(found[3].fields[spool::gpu_field::kExternalCorrelation], 3U);
}

TEST_F(ActivityEncoderTest, LeavesExternalCorrelationOfOtherProfilersAlone) {
  CUpti_ActivityExternalCorrelation external{};
  external.kind = CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION;
  external.externalKind = CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM1;
  EXPECT_FALSE(add(external));
}

TEST_F(ActivityEncoderTest, CountsKindsThatItDoesNotKnow) {
  CUpti_ActivityJit2 jit{};
  jit.kind = CUPTI_ACTIVITY_KIND_JIT;
  EXPECT_FALSE(add(jit));
  EXPECT_EQ(sink_.drops(Drop::kGpuUnknownKind), 1U);
}

TEST_F(ActivityEncoderTest, RegistersDevicesAndContextsOnce) {
  CUpti_ActivityDevice6 device{};
  device.kind = CUPTI_ACTIVITY_KIND_DEVICE;
  device.id = 3;
  device.name = "NVIDIA H200";
  device.uuid.bytes[0] = 0x1f;
  device.uuid.bytes[15] = 0x2e;
  device.computeCapabilityMajor = 9;
  device.numMultiprocessors = 132;
  device.globalMemorySize = 141ULL << 30;
  CUpti_ActivityContext4 context{};
  context.kind = CUPTI_ACTIVITY_KIND_CONTEXT;
  context.contextId = 1;
  context.deviceId = 3;
  context.nullStreamId = 7;
  for (int i = 0; i < 2; ++i) {
    EXPECT_FALSE(add(device));
    EXPECT_FALSE(add(context));
  }
  const auto devices = sink_.states<spool::GpuDeviceState>(spool::StateKind::kGpuDevice);
  ASSERT_EQ(devices.size(), 1U);
  EXPECT_EQ(devices[0].device, 3U);
  EXPECT_EQ(sink_.text(devices[0].name), "NVIDIA H200");
  EXPECT_EQ(devices[0].uuid[0], 0x1f);
  EXPECT_EQ(devices[0].uuid[15], 0x2e);
  EXPECT_EQ(devices[0].capability, 90U);
  EXPECT_EQ(devices[0].processors, 132U);
  EXPECT_EQ(devices[0].memory_bytes, 141ULL << 30);
  ASSERT_EQ(sink_.states<spool::GpuContextState>(spool::StateKind::kGpuContext).size(), 1U);
  const auto streams = sink_.states<spool::GpuStreamState>(spool::StateKind::kGpuStream);
  ASSERT_EQ(streams.size(), 1U);
  EXPECT_EQ(streams[0].stream, 7U);
  EXPECT_EQ(streams[0].address, 0U);
}

TEST_F(ActivityEncoderTest, LeavesOutWhatLiesBetweenTwoWindowsWhereKindsStayEnabled) {
  spans_.leave_out_others();
  spans_.open(1000);
  spans_.close(2000);
  spans_.open(5000);
  EXPECT_FALSE(add(make_kernel<CUpti_ActivityKernel10>("before", 100, 200, 1)));
  EXPECT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("in", 1100, 1200, 2)));
  EXPECT_FALSE(add(make_kernel<CUpti_ActivityKernel10>("between", 2100, 2200, 3)));
  EXPECT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("in again", 5100, 5200, 4)));
}

TEST_F(ActivityEncoderTest, KeepsWorkThatWasLaunchedInAWindowAndRanAfterIt) {
  spans_.leave_out_others();
  spans_.open(1000);
  spans_.close(2000);
  const auto inside = make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1500, 10);
  const auto outside = make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 2500, 11);
  encoder_->note_call(CUPTI_ACTIVITY_KIND_DRIVER, record_of(inside));
  encoder_->note_call(CUPTI_ACTIVITY_KIND_DRIVER, record_of(outside));
  EXPECT_TRUE(add(make_kernel<CUpti_ActivityKernel10>("launched inside", 9000, 9100, 10)));
  EXPECT_FALSE(add(make_kernel<CUpti_ActivityKernel10>("launched outside", 9000, 9100, 11)));
}

TEST_F(ActivityEncoderTest, KnowsWhichLaunchesAreWithoutTheirWork) {
  add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 100, 1));
  add(make_kernel<CUpti_ActivityKernel10>("k", 150, 200, 2));  // its call comes later
  EXPECT_EQ(encoder_->ledger().open_launches(), 1U);
  add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 120, 2));
  add(make_call(CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_DRIVER_TRACE_CBID_cuStreamSynchronize, 130, 3));
  EXPECT_EQ(encoder_->ledger().open_launches(), 1U);
  add(make_kernel<CUpti_ActivityKernel10>("k", 150, 200, 1));
  EXPECT_EQ(encoder_->ledger().open_launches(), 0U);
}

}  // namespace
}  // namespace jaxprof::cupti
