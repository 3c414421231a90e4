#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>

#include "tests/doubles/cuda/unit/recording_client.h"

namespace jaxprof::fake_cuda::test {
namespace {

constexpr auto kKernels = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;

TEST(Enable, FailsAsItIsTold) {
  for (const int code : {14, 35, 40, 43}) {
    expect_passes({{"FAKE_CUPTI_ENABLE_RESULT", std::to_string(code)}, {"FAKE_CUPTI_ENABLE_RESULT_KIND", "10"}},
                  [code] {
                    ready_stream();
                    RecordingClient::register_v1();
                    EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(kKernels), code);
                    EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_MEMCPY), CUPTI_SUCCESS);
                    EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(CUPTI_ACTIVITY_KIND_EVENT), CUPTI_ERROR_INVALID_KIND);
                  });
  }
}

TEST(Disable, InFlightOperationEndsAtTheNextEnable) {
  expect_passes({{"FAKE_CUPTI_LATE_END", "1"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({kKernels});
    HeldKernel kernel;
    kernel.launch(stream);
    EXPECT_EQ(CUPTI_FN(cuptiActivityDisable)(kKernels), CUPTI_SUCCESS);
    kernel.release();
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::kernels().size(), 0U);  // withheld
    std::uint64_t before = 0;
    EXPECT_EQ(CUPTI_FN(cuptiGetTimestamp)(&before), CUPTI_SUCCESS);
    EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(kKernels), CUPTI_SUCCESS);
    RecordingClient::flush();
    ASSERT_EQ(RecordingClient::kernels().size(), 1U);
    EXPECT_GE(RecordingClient::kernels()[0].end, before);
  });
}

TEST(Flush, CanHang) {
  for (const auto& [value, flag] : {std::pair("1", 0U), std::pair("2", 1U)}) {
    expect_passes({{"FAKE_CUPTI_FLUSH_HANG", value}}, [flag = flag] {
      ready_stream();
      RecordingClient::register_v1();
      static std::atomic<bool> has_returned{false};
      if (flag != 0) RecordingClient::flush(0);  // this one does not
      std::thread([flag] {
        CUPTI_FN(cuptiActivityFlushAll)(flag);
        has_returned = true;
      }).detach();
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      EXPECT_FALSE(has_returned);
    });
  }
}

TEST(FatalError, IsToldByStateCallbackAndEndsEverything) {
  expect_passes({{"FAKE_CUPTI_FATAL_AFTER", "2"}}, [] {
    CUstream const stream = ready_stream();
    static std::atomic<int> told{0};
    CUpti_SubscriberHandle handle = nullptr;
    const auto callback = [](void*, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* about) {
      EXPECT_EQ(domain, CUPTI_CB_DOMAIN_STATE);
      EXPECT_EQ(cbid, static_cast<CUpti_CallbackId>(CUPTI_CBID_STATE_FATAL_ERROR));
      EXPECT_NE(static_cast<const CUpti_StateData*>(about)->notification.message, nullptr);
      ++told;
    };
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, callback, nullptr), CUPTI_SUCCESS);
    EXPECT_EQ(CUPTI_FN(cuptiEnableDomain)(1, handle, CUPTI_CB_DOMAIN_STATE), CUPTI_SUCCESS);
    RecordingClient::record({kKernels});
    for (int i = 0; i < 3; ++i) launch(plain_kernel(), stream);
    CUDA_FN(fake_cuda_settle)();
    EXPECT_EQ(told, 1);
    EXPECT_EQ(CUPTI_FN(cuptiActivityFlushAll)(0), CUPTI_ERROR_NOT_INITIALIZED);
  });
}

TEST(Names, ArePoisonedWhenTheModuleIsUnloaded) {
  expect_passes({{"FAKE_CUDA_POISON_NAMES", "1"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({kKernels});
    CUmodule module = nullptr;
    CUfunction function = nullptr;
    EXPECT_EQ(CUDA_FN(cuModuleLoadData)(&module, ""), CUDA_SUCCESS);
    EXPECT_EQ(CUDA_FN(cuModuleGetFunction)(&function, module, "some_kernel"), CUDA_SUCCESS);
    launch(function, stream);
    RecordingClient::settle_and_flush();
    ASSERT_EQ(RecordingClient::kernels().size(), 1U);
    EXPECT_STREQ(RecordingClient::kernels()[0].name, "some_kernel");
    EXPECT_EQ(CUDA_FN(cuModuleUnload)(module), CUDA_SUCCESS);
    EXPECT_STREQ(RecordingClient::kernels()[0].name, "poisonedpoi");
  });
}

TEST(SecondClient, SilentlyTakesTheBuffers) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({kKernels});
    static std::atomic<int> taken{0};
    const auto complete = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
      std::free(buffer);
      ++taken;
    };
    EXPECT_EQ(CUPTI_FN(cuptiActivityRegisterCallbacks)(RecordingClient::request, complete), CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    RecordingClient::settle_and_flush();
    EXPECT_EQ(RecordingClient::buffers().size(), 0U);
    EXPECT_EQ(taken, 1);
  });
}

TEST(InventedVersion, HasLargerRecordsAndAKindNobodyKnows) {
  expect_passes({{"FAKE_CUPTI_VERSION", "140000"}}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::record({kKernels});
    CUfunction const kernel = plain_kernel();
    for (int i = 0; i < 8; ++i) launch(kernel, stream);
    RecordingClient::settle_and_flush();
    std::size_t bytes = 0;
    EXPECT_EQ(CUPTI_FN(cuptiActivityGetStructSize)(kKernels, 0, &bytes), CUPTI_SUCCESS);
    EXPECT_GT(bytes, sizeof(CUpti_ActivityKernel13));
    EXPECT_EQ(RecordingClient::kernels().size(), 8U);
    EXPECT_EQ(RecordingClient::records<CUpti_Activity>(static_cast<CUpti_ActivityKind>(77)).size(), 2U);
  });
}

TEST(ForkedChild, IsCaughtCallingCupti) {
  expect_passes({}, [] {
    ready_stream();
    RecordingClient::register_v1();
    expect_passes({}, [] {
      EXPECT_EQ(CUPTI_FN(cuptiActivityFlushAll)(1), CUPTI_ERROR_UNKNOWN);
      EXPECT_EQ(counted().calls_in_child, 1U);
    });
  });
}

TEST(ForkedChild, HangsWhereALockIsHeld) {
  expect_passes({{"FAKE_CUPTI_FORK_HANG", "1"}}, [] {
    ready_stream();
    RecordingClient::register_v1();
    const int status = in_fresh_process({}, [] {
      alarm(1);
      CUPTI_FN(cuptiActivityFlushAll)(1);
    });
    EXPECT_EQ(status & 0x7f, SIGALRM);
  });
}

// ---- what a tool may not do

TEST(Violation, CudaCallInsideACallbackButNotSynchronize) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    static CUstream waited = stream;
    CUpti_SubscriberHandle handle = nullptr;
    const auto callback = [](void*, CUpti_CallbackDomain, CUpti_CallbackId, const void* about) {
      if (static_cast<const CUpti_CallbackData*>(about)->callbackSite != CUPTI_API_ENTER) return;
      static bool is_inside = false;
      if (is_inside) return;
      is_inside = true;
      CUDA_FN(cuStreamSynchronize)(waited);
      EXPECT_EQ(counted().cuda_in_callback, 0U);
      int count = 0;
      CUDA_FN(cuDeviceGetCount)(&count);
    };
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, callback, nullptr), CUPTI_SUCCESS);
    EXPECT_EQ(
        CUPTI_FN(cuptiEnableCallback)(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel),
        CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    EXPECT_EQ(counted().cuda_in_callback, 1U);
    EXPECT_EQ(counted().violations, 1U);
  });
}

TEST(Violation, FlushInsideABufferCallback) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    const auto request = [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* count) {
      EXPECT_EQ(CUPTI_FN(cuptiActivityFlushAll)(0), CUPTI_ERROR_INVALID_OPERATION);
      RecordingClient::request(buffer, bytes, count);
    };
    EXPECT_EQ(CUPTI_FN(cuptiActivityRegisterCallbacks)(request, RecordingClient::complete), CUPTI_SUCCESS);
    EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(kKernels), CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    EXPECT_EQ(counted().flush_in_callback, 1U);
  });
}

TEST(Violation, LockHeldAcrossAFlushThatTheCallbackWants) {
  for (const bool is_held : {false, true}) {
    expect_passes({{"FAKE_CUPTI_CROSS_THREAD", "1"}}, [is_held] {
      CUstream const stream = ready_stream();
      static std::mutex mine;
      const auto complete = [](CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
        const std::lock_guard lock(mine);
        std::free(buffer);
      };
      EXPECT_EQ(CUPTI_FN(cuptiActivityRegisterCallbacks)(RecordingClient::request, complete), CUPTI_SUCCESS);
      EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(kKernels), CUPTI_SUCCESS);
      launch(plain_kernel(), stream);
      CUDA_FN(fake_cuda_settle)();
      if (is_held) mine.lock();
      RecordingClient::flush();
      if (is_held) mine.unlock();
      EXPECT_EQ(counted().lock_across, is_held ? 1U : 0U);
    });
  }
}

TEST(Violation, BufferThatIsNotZeroedAsPromised) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    RecordingClient::are_dirty = true;
    RecordingClient::record({kKernels});
    std::uint8_t is_zeroed = 1;
    std::size_t size = sizeof is_zeroed;
    EXPECT_EQ(CUPTI_FN(cuptiActivitySetAttribute)(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &is_zeroed),
              CUPTI_SUCCESS);
    launch(plain_kernel(), stream);
    EXPECT_EQ(counted().buffer_not_zeroed, 1U);
  });
}

TEST(Report, NamesViolationsAsTheyHappenAndCountsAtExit) {
  char path[] = "/var/tmp/fake_cupti_report.XXXXXX";
  close(mkstemp(path));
  const int status = in_fresh_process({{"FAKE_CUPTI_REPORT", path}}, [] {
    ready_stream();
    EXPECT_EQ(CUPTI_FN(cuptiFinalize)(), CUPTI_SUCCESS);
    expect_passes({}, [] { CUPTI_FN(cuptiActivityFlushAll)(0); });
    exit(::testing::Test::HasFailure() ? 1 : 0);
  });
  std::ifstream file(path);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  unlink(path);
  EXPECT_EQ(status, 0);
  EXPECT_NE(text.find("what=violation\tkind=calls_in_child\twhere=cuptiActivityFlushAll"), std::string::npos) << text;
  EXPECT_NE(text.find("what=counts\tviolations=0"), std::string::npos) << text;
  EXPECT_NE(text.find("finalize_calls=1"), std::string::npos) << text;
}

}  // namespace
}  // namespace jaxprof::fake_cuda::test
