#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <set>
#include <string>

#include "tests/doubles/cuda/unit/recording_client.h"

namespace jaxprof::fake_cuda::test {
namespace {

// States times of its own, long ago.
void stating_body(FakeCudaExecution* execution) {
  auto* const base_raw_ns = static_cast<const std::int64_t*>(execution->data);
  execution->begin_ns = *base_raw_ns;
  execution->end_ns = *base_raw_ns + 1234;
  execution->clock = kFakeCudaClockRaw;
}

TEST(KernelRecord, HasTheLaunchAndTheTimesThatTheBodyStates) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER});
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC_RAW, &now);
    static const std::int64_t base = now.tv_sec * 1'000'000'000 + now.tv_nsec;
    auto* const function =
        static_cast<CUfunction>(CUDA_FN(fake_cuda_kernel)("stating", stating_body, const_cast<std::int64_t*>(&base)));
    launch(function, stream);
    const std::uint32_t correlation = CUDA_FN(fake_cuda_last_correlation)();
    RecordingClient::settle_and_flush();
    const auto kernels = RecordingClient::kernels();
    ASSERT_EQ(kernels.size(), 1U);
    EXPECT_STREQ(kernels[0].name, "stating");
    EXPECT_EQ(kernels[0].end - kernels[0].start, 1234U);
    EXPECT_LT(std::llabs(static_cast<std::int64_t>(kernels[0].start) - CUDA_FN(fake_cuda_clock_ns)(base)), 1000);
    EXPECT_EQ(kernels[0].correlationId, correlation);
    EXPECT_EQ(kernels[0].streamId, CUDA_FN(fake_cuda_stream_id)(stream));
    EXPECT_EQ(kernels[0].gridX, 4);
    EXPECT_EQ(kernels[0].gridY, 2);
    EXPECT_EQ(kernels[0].blockX, 128);
    EXPECT_EQ(kernels[0].dynamicSharedMemory, 256);
  });
}

TEST(KernelRecord, HasNoCorrelationWhereCallsAreNotWatched) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    launch(plain_kernel(), stream);
    RecordingClient::settle_and_flush();
    ASSERT_EQ(RecordingClient::kernels().size(), 1U);
    EXPECT_EQ(RecordingClient::kernels()[0].correlationId, 0U);
  });
}

TEST(ApiRecord, IsThereWhileTheKernelStillRuns) {
  expect_passes({{"FAKE_CUPTI_LATE_RECORDS", "1"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER});
    HeldKernel kernel;
    kernel.launch(stream);
    RecordingClient::flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 0U);
    EXPECT_EQ(RecordingClient::records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER).size(), 1U);
    kernel.release();
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 1U);
    EXPECT_GE(counted().buffers_requested, 1U);
  });
}

TEST(ApiRecord, RuntimeAndDriverCallShareTheId) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER});
    CUDA_FN(fake_cuda_runtime_begin)(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel");
    launch(plain_kernel(), stream);
    CUDA_FN(fake_cuda_runtime_end)();
    RecordingClient::settle_and_flush();
    const auto runtime = RecordingClient::records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_RUNTIME);
    const auto driver = RecordingClient::records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
    ASSERT_EQ(runtime.size(), 1U);
    ASSERT_EQ(driver.size(), 1U);
    EXPECT_EQ(runtime[0].correlationId, driver[0].correlationId);
    EXPECT_LE(runtime[0].start, driver[0].start);
  });
}

TEST(ApiRecord, FilterChoosesCalls) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::register_v1();
    EXPECT_EQ(CUPTI_FN(cuptiActivityEnableDriverApi)(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel, 1), CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    CUDA_FN(cuStreamSynchronize)(stream);
    RecordingClient::settle_and_flush();
    const auto calls = RecordingClient::records<CUpti_ActivityAPI>(CUPTI_ACTIVITY_KIND_DRIVER);
    ASSERT_EQ(calls.size(), 1U);
    EXPECT_EQ(calls[0].cbid, static_cast<CUpti_CallbackId>(CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
  });
}

TEST(ExternalCorrelation, TiesTheInnermostIdToTheCall) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION, CUPTI_ACTIVITY_KIND_DRIVER});
    const auto push = CUPTI_FN(cuptiActivityPushExternalCorrelationId);
    EXPECT_EQ(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 7), CUPTI_SUCCESS);
    EXPECT_EQ(push(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 8), CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    const std::uint32_t correlation = CUDA_FN(fake_cuda_last_correlation)();
    std::uint64_t last = 0;
    const auto pop = CUPTI_FN(cuptiActivityPopExternalCorrelationId);
    EXPECT_EQ(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, &last), CUPTI_SUCCESS);
    EXPECT_EQ(last, 8U);
    EXPECT_EQ(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr), CUPTI_SUCCESS);
    EXPECT_EQ(pop(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr), CUPTI_ERROR_QUEUE_EMPTY);
    RecordingClient::settle_and_flush();
    const auto ids =
        RecordingClient::records<CUpti_ActivityExternalCorrelation>(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION);
    ASSERT_EQ(ids.size(), 1U);
    EXPECT_EQ(ids[0].externalId, 8U);
    EXPECT_EQ(ids[0].correlationId, correlation);
  });
}

TEST(Flush, HoldsABufferWithAnIncompleteRecordBack) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER});
    HeldKernel kernel;
    kernel.launch(stream);
    RecordingClient::flush();
    EXPECT_EQ(RecordingClient::buffers().size(), 0U);
    kernel.release();
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 1U);
  });
}

TEST(Flush, ForcedGivesIncompleteRecordsWithoutTimes) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    HeldKernel kernel;
    kernel.launch(stream);
    RecordingClient::flush(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    ASSERT_EQ(RecordingClient::kernels().size(), 1U);
    EXPECT_EQ(RecordingClient::kernels()[0].start, 0U);
    EXPECT_EQ(RecordingClient::kernels()[0].end, 0U);
    EXPECT_EQ(counted().abandoned_records, 1U);
    kernel.release();
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 1U);
  });
}

TEST(Buffers, AreAskedForOnTheLaunchingThreadOrTheWorker) {
  for (const bool is_late : {false, true}) {
    expect_passes({{"FAKE_CUPTI_LATE_RECORDS", is_late ? "1" : "0"}}, [is_late] {
      CUstream const stream = ready_stream();
      RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
      launch(plain_kernel(), stream);
      RecordingClient::settle_and_flush();
      EXPECT_EQ(counted().buffers_requested, 1U);
      EXPECT_EQ(counted().buffers_requested_on_worker, is_late ? 1U : 0U);
    });
  }
}

TEST(Buffers, AreAThreadsOwnOrGlobalByVersionAndAttribute) {
  for (const auto& [version, expected] : {std::pair("22", 1U), std::pair("130500", 2U)}) {
    expect_passes({{"FAKE_CUPTI_VERSION", version}}, [count = expected] {
      CUstream const stream = ready_stream();
      RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
      CUfunction const kernel = plain_kernel();
      launch(kernel, stream);
      std::thread([&] { launch(kernel, stream); }).join();
      RecordingClient::settle_and_flush();
      EXPECT_EQ(RecordingClient::buffers().size(), count);
    });
  }
}

TEST(Buffers, FullOnesComeBackFromAnotherThread) {
  expect_passes({}, [] {
    RecordingClient::buffer_bytes = 1024;
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    CUfunction const kernel = plain_kernel();
    for (int i = 0; i < 40; ++i) launch(kernel, stream);
    CUDA_FN(fake_cuda_settle)();
    while (RecordingClient::buffers().size() < 9) std::this_thread::yield();  // alarm() bounds it
    EXPECT_NE(RecordingClient::buffers()[0].thread, std::this_thread::get_id());
    RecordingClient::flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 40U);
  });
}

TEST(Buffers, NoneWasFatalBefore27) {
  const auto body = [] {
    RecordingClient::buffer_bytes = 0;
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    launch(plain_kernel(), stream);
    RecordingClient::settle_and_flush();
    std::size_t dropped = 0;
    EXPECT_EQ(CUPTI_FN(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &dropped), CUPTI_SUCCESS);
    EXPECT_EQ(dropped, 1U);
    EXPECT_EQ(CUPTI_FN(cuptiActivityGetNumDroppedRecords)(nullptr, 0, &dropped), CUPTI_SUCCESS);
    EXPECT_EQ(dropped, 0U);  // reading takes them
  };
  expect_passes({{"FAKE_CUPTI_VERSION", "28"}}, body);
  const int status = in_fresh_process({{"FAKE_CUPTI_VERSION", "22"}}, [body] {
    signal(SIGSEGV, SIG_DFL);  // it is meant to be: no report of a sanitizer
    body();
  });
  EXPECT_EQ(status & 0x7f, SIGSEGV);
}

TEST(Delivery, IsOutOfOrderBetweenOperationsWithJitter) {
  expect_passes({{"FAKE_CUPTI_LATE_RECORDS", "1"}, {"FAKE_CUDA_DELIVERY_JITTER_US", "20000"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    CUfunction const kernel = plain_kernel();
    for (int i = 0; i < 50; ++i) launch(kernel, stream);
    RecordingClient::settle_and_flush();
    const auto kernels = RecordingClient::kernels();
    ASSERT_EQ(kernels.size(), 50U);
    EXPECT_FALSE(std::is_sorted(kernels.begin(), kernels.end(),
                                [](const auto& left, const auto& right) { return left.start < right.start; }));
  });
}

TEST(Delivery, EveryNthRecordCanLackTimesOrBeDropped) {
  expect_passes({{"FAKE_CUPTI_ZERO_EVERY", "5"}, {"FAKE_CUPTI_DROP_EVERY", "10"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL});
    CUfunction const kernel = plain_kernel();
    for (int i = 0; i < 20; ++i) launch(kernel, stream);
    RecordingClient::settle_and_flush();
    const auto kernels = RecordingClient::kernels();
    EXPECT_EQ(kernels.size(), 18U);
    EXPECT_EQ(std::count_if(kernels.begin(), kernels.end(), [](const auto& one) { return one.end == 0; }),
              2);  // of four, two were dropped
    EXPECT_EQ(counted().dropped_records, 2U);
  });
}

TEST(Overhead, OfLendingABufferStandsAtItsBegin) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_OVERHEAD});
    launch(plain_kernel(), stream);
    RecordingClient::settle_and_flush();
    const auto found = RecordingClient::records<CUpti_ActivityOverhead3>(CUPTI_ACTIVITY_KIND_OVERHEAD);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_EQ(found[0].overheadKind, CUPTI_ACTIVITY_OVERHEAD_ACTIVITY_BUFFER_REQUEST);
    EXPECT_LE(found[0].start, found[0].end);
    EXPECT_EQ(RecordingClient::kernels().size(), 1U);
  });
}

TEST(Objects, DevicesAreToldWhenTheDriverStarts) {
  expect_passes({}, [] {
    RecordingClient::record({CUPTI_ACTIVITY_KIND_DEVICE});
    EXPECT_EQ(CUDA_FN(cuInit)(0), CUDA_SUCCESS);
    RecordingClient::flush();
    const auto devices = RecordingClient::records<CUpti_ActivityDevice6>(CUPTI_ACTIVITY_KIND_DEVICE);
    ASSERT_EQ(devices.size(), 1U);
    EXPECT_STREQ(devices[0].name, "Fake GPU 0");
  });
}

TEST(Objects, AreDumpedWhenTheirKindIsEnabled) {
  expect_passes({{"FAKE_CUDA_DEVICES", "2"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::register_v1();
    for (const auto kind : {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM}) {
      EXPECT_EQ(CUPTI_FN(cuptiActivityEnableAndDump)(kind), CUPTI_SUCCESS);
    }
    CUstream later = nullptr;
    CUDA_FN(cuStreamCreate)(&later, 0);
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::records<CUpti_ActivityDevice6>(CUPTI_ACTIVITY_KIND_DEVICE).size(), 2U);
    EXPECT_EQ(RecordingClient::records<CUpti_ActivityContext4>(CUPTI_ACTIVITY_KIND_CONTEXT).size(), 1U);
    const auto streams = RecordingClient::records<CUpti_ActivityStream>(CUPTI_ACTIVITY_KIND_STREAM);
    std::set<std::uint32_t> ids;
    for (const auto& one : streams) ids.insert(one.streamId);
    EXPECT_EQ(streams.size(), 3U);  // the default one, the first, the later one
    EXPECT_EQ(ids.size(), 3U);
    EXPECT_EQ(ids.count(CUDA_FN(fake_cuda_stream_id)(stream)), 1U);
  });
}

}  // namespace
}  // namespace jaxprof::fake_cuda::test
