// The fake is only worth something if it is like the real one. Where a real libcupti is at hand (it needs no GPU to
// iterate over records), it walks the buffers that the fake filled, and must find the same records in the same places;
// and the fake must know every record's size as the real one of its version does.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/doubles/cuda/unit/recording_client.h"

namespace jaxprof::fake_cuda::test {
namespace {

std::string set_up_path() {
  std::string text;
  if (FILE* const pipe = popen("bash '" JAXPROF_SETUP "' --path cupti", "r")) {
    char part[512];
    while (std::fgets(part, sizeof part, pipe) != nullptr) text += part;
    pclose(pipe);
  }
  return text.substr(0, text.find('\n'));
}

// What the set-up script put there, and a toolkit's.
std::vector<std::string> real_libraries() {
  const std::string folder = set_up_path();
  std::vector<std::string> found;
  for (const std::string& path :
       {folder + "/libcupti.so.13", folder + "/libcupti.so.12", std::string("/usr/local/cuda/lib64/libcupti.so.13"),
        std::string("/usr/local/cuda/lib/libcupti.so.13")}) {
    if (std::filesystem::exists(path)) found.push_back(path);
  }
  return found;
}

bool is_required() {
  const char* const required = std::getenv("JAXPROF_REQUIRE");
  return required != nullptr && ("," + std::string(required) + ",").find(",cupti,") != std::string::npos;
}

class Oracle : public ::testing::Test {
 protected:
  void SetUp() override {
    libraries_ = real_libraries();
    if (!libraries_.empty()) return;
    ASSERT_FALSE(is_required()) << "JAXPROF_REQUIRE names cupti, but there is none; run: bash tests/setup.sh cupti";
    GTEST_SKIP() << "no libcupti; run: bash tests/setup.sh cupti";
  }
  std::vector<std::string> libraries_;
};

// The real library, loaded beside the fake one; its functions by the same names.
template <typename Function>
Function* real(void* library, const char* name, Function*) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}
#define REAL_FN(LIBRARY, NAME) real(LIBRARY, #NAME, static_cast<decltype(&NAME)>(nullptr))

std::string version_of(void* library) {
  std::uint32_t version = 0;
  EXPECT_EQ(REAL_FN(library, cuptiGetVersion)(&version), CUPTI_SUCCESS);
  return std::to_string(version);
}

// How far GetNextRecord steps over a record of `kind`; 0: the kind is unknown.
std::size_t stride(decltype(&cuptiActivityGetNextRecord) next, int kind) {
  std::vector<std::int32_t> buffer(4096, kind);
  auto* const bytes = reinterpret_cast<std::uint8_t*>(buffer.data());
  CUpti_Activity* record = nullptr;
  if (next(bytes, buffer.size() * sizeof(std::int32_t), &record) != CUPTI_SUCCESS) return 0;
  const auto* const first = record;
  if (next(bytes, buffer.size() * sizeof(std::int32_t), &record) != CUPTI_SUCCESS) return 0;
  return static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(record) -
                                  reinterpret_cast<const std::uint8_t*>(first));
}

// Offsets and kinds of a buffer, and the status at its end.
struct Walk {
  std::vector<std::pair<std::size_t, int>> records;
  CUptiResult end = CUPTI_SUCCESS;
  bool operator==(const Walk&) const = default;
};
Walk walk(decltype(&cuptiActivityGetNextRecord) next, GivenBuffer& buffer) {
  Walk result;
  CUpti_Activity* record = nullptr;
  std::uint8_t* const begin = buffer.bytes.data();
  while ((result.end = next(begin, buffer.bytes.size(), &record)) == CUPTI_SUCCESS) {
    result.records.emplace_back(reinterpret_cast<std::uint8_t*>(record) - begin, static_cast<int>(record->kind));
  }
  return result;
}

// Some of everything that the engine records.
void make_records() {
  CUstream const stream = ready_stream();
  RecordingClient::record({CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                           CUPTI_ACTIVITY_KIND_MEMSET, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME,
                           CUPTI_ACTIVITY_KIND_SYNCHRONIZATION, CUPTI_ACTIVITY_KIND_CUDA_EVENT,
                           CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION});
  for (const auto kind : {CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT, CUPTI_ACTIVITY_KIND_STREAM}) {
    EXPECT_EQ(CUPTI_FN(cuptiActivityEnableAndDump)(kind), CUPTI_SUCCESS);
  }
  CUdeviceptr memory = 0;
  CUevent event = nullptr;
  CUDA_FN(cuMemAlloc_v2)(&memory, 4096);
  CUDA_FN(cuEventCreate)(&event, 0);
  CUfunction const kernel = plain_kernel();
  for (int i = 0; i < 20; ++i) {
    CUPTI_FN(cuptiActivityPushExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, 5);
    CUDA_FN(fake_cuda_runtime_begin)(CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel");
    launch(kernel, stream);
    CUDA_FN(fake_cuda_runtime_end)();
    CUPTI_FN(cuptiActivityPopExternalCorrelationId)(CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0, nullptr);
    CUDA_FN(cuMemsetD8Async)(memory, 1, 4096, stream);
    CUDA_FN(cuMemcpyDtoDAsync_v2)(memory, memory + 2048, 1024, stream);
    CUDA_FN(cuEventRecord)(event, stream);
    CUDA_FN(cuStreamSynchronize)(stream);
  }
  RecordingClient::settle_and_flush();
}

TEST_F(Oracle, KnowsTheSameRecordSizes) {
  for (const std::string& path : libraries_) {
    SCOPED_TRACE(path);
    expect_passes({}, [&path] {
      void* const library = load_library(path);
      setenv("FAKE_CUPTI_VERSION", version_of(library).c_str(), 1);
      for (int kind = 1; kind < 64; ++kind) {
        EXPECT_EQ(stride(CUPTI_FN(cuptiActivityGetNextRecord), kind),
                  stride(REAL_FN(library, cuptiActivityGetNextRecord), kind))
            << "kind " << kind;
      }
    });
  }
}

TEST_F(Oracle, WalksTheFakesBuffersTheSameWay) {
  for (const std::string& path : libraries_) {
    SCOPED_TRACE(path);
    expect_passes({}, [&path] {
      void* const library = load_library(path);
      setenv("FAKE_CUPTI_VERSION", version_of(library).c_str(), 1);
      make_records();
      std::size_t count = 0;
      for (GivenBuffer& buffer : RecordingClient::buffers()) {
        const Walk ours = walk(CUPTI_FN(cuptiActivityGetNextRecord), buffer);
        EXPECT_EQ(ours, walk(REAL_FN(library, cuptiActivityGetNextRecord), buffer));
        EXPECT_EQ(ours.end, CUPTI_ERROR_MAX_LIMIT_REACHED);
        count += ours.records.size();
      }
      EXPECT_GE(count, 20U * 10);  // kernel, runtime, external, memset, copy, event, wait, and their driver calls
    });
  }
}

TEST_F(Oracle, GivesTheSameNames) {
  expect_passes({}, [this] {
    void* const library = load_library(libraries_.front());
    const auto expect_same_name = [library](CUpti_CallbackDomain domain, std::uint32_t cbid) {
      const char* ours = nullptr;
      const char* theirs = nullptr;
      if (CUPTI_FN(cuptiGetCallbackName)(domain, cbid, &ours) != CUPTI_SUCCESS) return 0;
      EXPECT_EQ(REAL_FN(library, cuptiGetCallbackName)(domain, cbid, &theirs), CUPTI_SUCCESS);
      EXPECT_STREQ(ours, theirs);
      return 1;
    };
    int count = 0;
    for (std::uint32_t cbid = 1; cbid < 1000; ++cbid) {
      count += expect_same_name(CUPTI_CB_DOMAIN_DRIVER_API, cbid) + expect_same_name(CUPTI_CB_DOMAIN_RUNTIME_API, cbid);
    }
    EXPECT_GE(count, 25);
    for (const int result : {0, 1, 7, 12, 14, 15, 18, 21, 27, 35, 39, 40, 43, 999}) {
      const char* ours = nullptr;
      const char* theirs = nullptr;
      const auto code = static_cast<CUptiResult>(result);
      EXPECT_EQ(CUPTI_FN(cuptiGetResultString)(code, &ours), CUPTI_SUCCESS);
      EXPECT_EQ(REAL_FN(library, cuptiGetResultString)(code, &theirs), CUPTI_SUCCESS);
      EXPECT_STREQ(ours, theirs);
    }
  });
}

TEST_F(Oracle, ClockIsRealtime) {
  expect_passes({}, [this] {
    void* const library = load_library(libraries_.front());
    ready_stream();
    std::uint64_t theirs = 0;
    std::uint64_t ours = 0;
    EXPECT_EQ(REAL_FN(library, cuptiGetTimestamp)(&theirs), CUPTI_SUCCESS);
    EXPECT_EQ(CUPTI_FN(cuptiGetTimestamp)(&ours), CUPTI_SUCCESS);
    EXPECT_LT(std::llabs(static_cast<std::int64_t>(ours - theirs)), 100'000'000);
  });
}

}  // namespace
}  // namespace jaxprof::fake_cuda::test
