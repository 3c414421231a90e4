#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <string>

#include "tests/doubles/cuda/unit/recording_client.h"

namespace jaxprof::fake_cuda::test {
namespace {

struct Seen {
  std::atomic<int> calls{0};
  std::atomic<int> exits{0};
  std::atomic<std::uint32_t> cbid{0};
};

void on_callback(void* data, CUpti_CallbackDomain, CUpti_CallbackId cbid, const void* about) {
  auto* const seen = static_cast<Seen*>(data);
  ++seen->calls;
  seen->cbid = cbid;
  if (static_cast<const CUpti_CallbackData*>(about)->callbackSite == CUPTI_API_EXIT) ++seen->exits;
}

CUptiResult subscribe_v2(CUpti_SubscriberHandle* handle, bool is_shared, std::string* holder = nullptr) {
  char name[64] = "";
  CUpti_SubscriberParams parameters{};
  parameters.structSize = CUpti_SubscriberParams_STRUCT_SIZE;
  parameters.subscriberName = "a test";
  parameters.oldSubscriberName = name;
  parameters.oldSubscriberSize = sizeof name;
  parameters.allowMultipleSubscribers = is_shared ? 1 : 0;
  const CUptiResult result = CUPTI_FN(cuptiSubscribe_v2)(handle, on_callback, nullptr, &parameters);
  if (holder != nullptr) *holder = name;
  return result;
}

TEST(Subscriber, IsCalledAroundTheCallsThatItChose) {
  expect_passes({}, [] {
    ready_stream();
    static Seen seen;
    CUpti_SubscriberHandle handle = nullptr;
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, on_callback, &seen), CUPTI_SUCCESS);
    EXPECT_EQ(
        CUPTI_FN(cuptiEnableCallback)(1, handle, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuProfilerStart),
        CUPTI_SUCCESS);
    using NoArguments = CUresult (*)();
    reinterpret_cast<NoArguments>(driver_symbol("cuProfilerStart"))();
    reinterpret_cast<NoArguments>(driver_symbol("cuProfilerStop"))();
    EXPECT_EQ(seen.calls, 2);
    EXPECT_EQ(seen.exits, 1);
    EXPECT_EQ(seen.cbid, static_cast<std::uint32_t>(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart));
    EXPECT_EQ(CUPTI_FN(cuptiUnsubscribe)(handle), CUPTI_SUCCESS);
    reinterpret_cast<NoArguments>(driver_symbol("cuProfilerStart"))();
    EXPECT_EQ(seen.calls, 2);
  });
}

TEST(Subscriber, SecondIsRefusedAndToldWhoHoldsThePlace) {
  expect_passes({{"FAKE_CUPTI_VERSION", "130001"}}, [] {
    CUpti_SubscriberHandle first = nullptr;
    CUpti_SubscriberHandle second = nullptr;
    std::string holder;
    ready_stream();
    EXPECT_EQ(subscribe_v2(&first, false), CUPTI_SUCCESS);
    EXPECT_EQ(subscribe_v2(&second, false, &holder), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    EXPECT_EQ(holder, "CUPTI for a test");
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&second, on_callback, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    EXPECT_EQ(CUPTI_FN(cuptiUnsubscribe)(first), CUPTI_SUCCESS);
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&second, on_callback, nullptr), CUPTI_SUCCESS);
    EXPECT_EQ(counted().refused_subscriptions, 2U);
  });
}

TEST(Subscriber, PlaceIsTheProcesssNotTheLibrarys) {
  expect_passes({}, [] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    load_cupti("fake_cuda/libcupti.so.12");
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, on_callback, nullptr), CUPTI_SUCCESS);
    load_cupti("fake_cuda/libcupti.so.13");
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, on_callback, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  });
}

TEST(Subscriber, IsRefusedAsTheSwitchesSay) {
  expect_passes({{"FAKE_CUDA_SLOT_HELD", "1"}}, [] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    std::string holder;
    EXPECT_EQ(subscribe_v2(&handle, false, &holder), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    EXPECT_EQ(holder, "cuda-gdb");
  });
  expect_passes({{"FAKE_CUPTI_SUBSCRIBE_RESULT", "999"}}, [] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, on_callback, nullptr), CUPTI_ERROR_UNKNOWN);
    EXPECT_EQ(CUPTI_FN(cuptiGetLastError)(), CUPTI_ERROR_UNKNOWN);
    EXPECT_EQ(CUPTI_FN(cuptiGetLastError)(), CUPTI_SUCCESS);
  });
}

TEST(SecondGeneration, SeveralSubscribersEachHaveTheirRecords) {
  expect_passes({}, [] {
    CUstream const stream = ready_stream();
    CUpti_SubscriberHandle handles[2] = {};
    static std::atomic<int> completed{0};
    const auto request = [](std::uint8_t** buffer, std::size_t* bytes, std::size_t* count,
                            CUpti_BufferCallbackRequestInfo*) { RecordingClient::request(buffer, bytes, count); };
    const auto complete = [](std::uint8_t* buffer, std::size_t, std::size_t valid,
                             CUpti_BufferCallbackCompleteInfo* info) {
      EXPECT_EQ(valid, sizeof(CUpti_ActivityKernel13));
      EXPECT_GE(info->structSize, sizeof *info);
      std::free(buffer);
      ++completed;
    };
    for (CUpti_SubscriberHandle& handle : handles) {
      EXPECT_EQ(subscribe_v2(&handle, true), CUPTI_SUCCESS);
      EXPECT_EQ(CUPTI_FN(cuptiActivityRegisterCallbacks_v2)(handle, request, complete), CUPTI_SUCCESS);
      EXPECT_EQ(CUPTI_FN(cuptiActivityEnable_v2)(handle, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, nullptr),
                CUPTI_SUCCESS);
    }
    launch(plain_kernel(), stream);
    RecordingClient::settle_and_flush();
    EXPECT_EQ(completed, 2);
    // V1 is shut out, in what it may ask as well
    CUpti_SubscriberHandle other = nullptr;
    std::uint64_t now = 0;
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&other, on_callback, nullptr), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    EXPECT_EQ(CUPTI_FN(cuptiGetTimestamp)(&now), CUPTI_ERROR_NOT_COMPATIBLE);
    EXPECT_EQ(CUPTI_FN(cuptiGetTimestamp_v2)(handles[0], &now), CUPTI_SUCCESS);
    EXPECT_NE(now, 0U);
  });
}

TEST(SecondGeneration, IsRefusedBeforeItsVersionByASwitchAndBehindV1) {
  const auto expect_refusal = [] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    EXPECT_EQ(subscribe_v2(&handle, true), CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  };
  expect_passes({{"FAKE_CUPTI_VERSION", "130101"}}, expect_refusal);
  expect_passes({{"FAKE_CUPTI_MULTIPLE", "0"}}, expect_refusal);
  expect_passes({}, [expect_refusal] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    EXPECT_EQ(CUPTI_FN(cuptiSubscribe)(&handle, on_callback, nullptr), CUPTI_SUCCESS);
    expect_refusal();
  });
}

TEST(SecondGeneration, OldDriverShowsAtTheFirstTimestamp) {
  expect_passes({{"FAKE_CUPTI_V2_RESULT", "27"}}, [] {
    ready_stream();
    CUpti_SubscriberHandle handle = nullptr;
    EXPECT_EQ(subscribe_v2(&handle, true), CUPTI_SUCCESS);
    std::uint64_t now = 0;
    EXPECT_EQ(CUPTI_FN(cuptiGetTimestamp_v2)(handle, &now), CUPTI_ERROR_NOT_SUPPORTED);
  });
}

TEST(OlderLibraries, LackTheFunctionsOfNewerOnes) {
  expect_passes({}, [] {
    void* const old = load_cupti("fake_cupti_13_0/libcupti.so.13");
    EXPECT_EQ(dlsym(old, "cuptiActivityEnable_v2"), nullptr);
    EXPECT_EQ(dlsym(old, "cuptiActivityGetStructSize"), nullptr);
    EXPECT_NE(dlvsym(old, "cuptiSubscribe_v2", "libcupti.so.13"), nullptr);
    std::uint32_t version = 0;
    EXPECT_EQ(CUPTI_FN(cuptiGetVersion)(&version), CUPTI_SUCCESS);
    EXPECT_EQ(version, 130001U);
  });
  expect_passes({}, [] {
    void* const old = load_cupti("fake_cuda/libcupti.so.12");
    EXPECT_EQ(dlsym(old, "cuptiSubscribe_v2"), nullptr);
    EXPECT_EQ(dlsym(old, "cuptiActivityEnableDriverApi"), nullptr);
    EXPECT_NE(dlvsym(old, "cuptiSubscribe", "libcupti.so.12"), nullptr);
    std::uint32_t version = 0;
    EXPECT_EQ(CUPTI_FN(cuptiGetVersion)(&version), CUPTI_SUCCESS);
    EXPECT_EQ(version, 22U);
  });
}

}  // namespace
}  // namespace jaxprof::fake_cuda::test
