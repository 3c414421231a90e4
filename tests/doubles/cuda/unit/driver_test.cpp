#include <gtest/gtest.h>
#include <time.h>

#include <cstdlib>
#include <cstring>

#include "tests/doubles/cuda/unit/recording_client.h"

namespace jaxprof::fake_cuda::test {
namespace {

std::int64_t raw_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC_RAW, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

std::int64_t realtime_ns() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

TEST(CuInit, LoadsTheInjectedToolOnce) {
  expect_passes({{"CUDA_INJECTION64_PATH", JAXPROF_INJECTED}}, [] {
    EXPECT_EQ(CUDA_FN(cuInit)(0), CUDA_SUCCESS);
    EXPECT_EQ(CUDA_FN(cuInit)(0), CUDA_SUCCESS);
    EXPECT_STREQ(std::getenv("INJECTED_COUNT"), "1");
  });
}

TEST(CuInit, MissingToolDoesNotMatter) {
  expect_passes({{"CUDA_INJECTION64_PATH", "/nonexistent.so"}}, [] { EXPECT_EQ(CUDA_FN(cuInit)(0), CUDA_SUCCESS); });
}

TEST(Driver, RefusesCallsBeforeCuInitAndInForkedChildren) {
  expect_passes({}, [] {
    int count = 0;
    EXPECT_EQ(CUDA_FN(cuDeviceGetCount)(&count), CUDA_ERROR_NOT_INITIALIZED);
    ready_stream();
    EXPECT_EQ(CUDA_FN(cuDeviceGetCount)(&count), CUDA_SUCCESS);
    expect_passes({}, [] {
      CUstream stream = nullptr;
      EXPECT_EQ(CUDA_FN(cuStreamCreate)(&stream, 0), CUDA_ERROR_NOT_INITIALIZED);
    });
  });
}

TEST(Driver, CopiesAndMemsetsMoveBytesInStreamOrder) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    CUdeviceptr memory = 0;
    EXPECT_EQ(CUDA_FN(cuMemAlloc_v2)(&memory, 64), CUDA_SUCCESS);
    EXPECT_EQ(CUDA_FN(cuMemsetD8Async)(memory, 5, 64, stream), CUDA_SUCCESS);
    char seen[64] = {};
    EXPECT_EQ(CUDA_FN(cuMemcpyDtoHAsync_v2)(seen, memory, 64, stream), CUDA_SUCCESS);
    EXPECT_EQ(CUDA_FN(cuStreamSynchronize)(stream), CUDA_SUCCESS);
    EXPECT_EQ(seen[0], 5);
    EXPECT_EQ(seen[63], 5);
  });
}

TEST(Driver, ProcAddressIsTheNewestVersion) {
  expect_passes({}, [] {
    void* function = nullptr;
    EXPECT_EQ(CUDA_FN(cuGetProcAddress_v2)("cuMemAlloc", &function, 13000, 0, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(function, driver_symbol("cuMemAlloc_v2"));
    EXPECT_EQ(CUDA_FN(cuGetProcAddress_v2)("cuNothing", &function, 13000, 0, nullptr), CUDA_ERROR_NOT_FOUND);
  });
}

TEST(Clock, IsRealtimeUnlessItIsTold) {
  expect_passes({}, [] {
    const std::int64_t difference = CUDA_FN(fake_cuda_clock_ns)(raw_ns()) - realtime_ns();
    EXPECT_LT(std::llabs(difference), 50'000'000);
  });
}

TEST(Clock, HasOffsetDriftAndStep) {
  expect_passes({{"FAKE_CUDA_CLOCK_OFFSET_NS", "-3600000000000"}}, [] {
    const auto clock = CUDA_FN(fake_cuda_clock_ns);
    EXPECT_LT(std::llabs(clock(raw_ns()) + 3'600'000'000'000 - realtime_ns()), 50'000'000);
    const std::int64_t now = raw_ns();
    CUDA_FN(fake_cuda_set)("CLOCK_DRIFT_PPB", 1'000'000'000);  // twice as fast
    EXPECT_NEAR(static_cast<double>(clock(now + 1'000'000) - clock(now)), 2e6, 1e5);
    const std::int64_t before = clock(now);
    CUDA_FN(fake_cuda_step_clock)(-5'000'000'000);
    EXPECT_NEAR(static_cast<double>(clock(now) - before), -5e9, 1e8);
  });
}

TEST(Graph, LaunchIsManyOperationsWithOneCorrelationAndOwnNodes) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER});
    CUgraph graph = nullptr;
    EXPECT_EQ(CUDA_FN(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
    for (int i = 0; i < 3; ++i) launch(plain_kernel(), stream);
    EXPECT_EQ(CUDA_FN(cuStreamEndCapture)(stream, &graph), CUDA_SUCCESS);
    CUgraphExec executable = nullptr;
    EXPECT_EQ(CUDA_FN(cuGraphInstantiateWithFlags)(&executable, graph, 0), CUDA_SUCCESS);
    EXPECT_EQ(CUDA_FN(cuGraphLaunch)(executable, stream), CUDA_SUCCESS);
    const std::uint32_t correlation = CUDA_FN(fake_cuda_last_correlation)();
    RecordingClient::settle_and_flush();
    const auto kernels = RecordingClient::kernels();
    ASSERT_EQ(kernels.size(), 3U);  // none when they were captured
    std::uint32_t id = 0;
    EXPECT_EQ(CUPTI_FN(cuptiGetGraphExecId)(executable, &id), CUPTI_SUCCESS);
    std::size_t count = 3;
    CUgraphNode nodes[3] = {};
    EXPECT_EQ(CUDA_FN(cuGraphGetNodes)(graph, nodes, &count), CUDA_SUCCESS);
    for (std::size_t i = 0; i < 3; ++i) {
      std::uint64_t captured = 0;
      EXPECT_EQ(CUPTI_FN(cuptiGetGraphNodeId)(nodes[i], &captured), CUPTI_SUCCESS);
      EXPECT_EQ(kernels[i].correlationId, correlation);
      EXPECT_EQ(kernels[i].graphId, id);
      EXPECT_EQ(kernels[i].sourceGraphNodeId, captured);
      EXPECT_NE(kernels[i].graphNodeId, captured);
    }
  });
}

TEST(Graph, TracedAsAWholeIsOneRecord) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_GRAPH_TRACE});
    CUgraph graph = nullptr;
    CUgraphExec executable = nullptr;
    CUDA_FN(cuStreamBeginCapture_v2)(stream, CU_STREAM_CAPTURE_MODE_GLOBAL);
    launch(plain_kernel(), stream);
    launch(plain_kernel(), stream);
    CUDA_FN(cuStreamEndCapture)(stream, &graph);
    CUDA_FN(cuGraphInstantiateWithFlags)(&executable, graph, 0);
    EXPECT_EQ(CUDA_FN(cuGraphLaunch)(executable, stream), CUDA_SUCCESS);
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 0U);
    const auto graphs = RecordingClient::records<CUpti_ActivityGraphTrace2>(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
    ASSERT_EQ(graphs.size(), 1U);
    EXPECT_GE(graphs[0].end - graphs[0].start, 10'000U);  // two kernels of 5 us
  });
}

TEST(Capture, FollowsAnEventToAnotherStream) {
  expect_passes({}, [] {
    CUstream const first = ready_stream();
    CUstream second = nullptr;
    CUevent event = nullptr;
    CUDA_FN(cuStreamCreate)(&second, 0);
    CUDA_FN(cuEventCreate)(&event, 0);
    CUDA_FN(cuStreamBeginCapture_v2)(first, CU_STREAM_CAPTURE_MODE_GLOBAL);
    CUDA_FN(cuEventRecord)(event, first);
    CUDA_FN(cuStreamWaitEvent)(second, event, 0);
    launch(plain_kernel(), second);
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    CUDA_FN(cuStreamIsCapturing)(second, &status);
    EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    CUgraph graph = nullptr;
    EXPECT_EQ(CUDA_FN(cuStreamEndCapture)(first, &graph), CUDA_SUCCESS);
    std::size_t count = 0;
    CUDA_FN(cuGraphGetNodes)(graph, nullptr, &count);
    EXPECT_EQ(count, 1U);
  });
}

}  // namespace
}  // namespace jaxprof::fake_cuda::test
