#include "tests/doubles/cuda/unit/recording_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

namespace jaxprof::fake_cuda::test {
namespace {

struct Given {
  std::mutex mutex;
  std::vector<GivenBuffer> buffers;
};
Given& given() {
  static auto* const all = new Given;
  return *all;
}

}  // namespace

void RecordingClient::request(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *bytes = buffer_bytes;
  *max_records = 0;
  *buffer = buffer_bytes == 0 ? nullptr : static_cast<std::uint8_t*>(std::calloc(1, buffer_bytes));
  if (are_dirty) (*buffer)[buffer_bytes / 2] = 1;
}

void RecordingClient::complete(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::lock_guard lock(given().mutex);
  given().buffers.push_back({std::vector<std::uint8_t>(buffer, buffer + valid), std::this_thread::get_id()});
  std::free(buffer);
}

void RecordingClient::register_v1() {
  EXPECT_EQ(CUPTI_FN(cuptiActivityRegisterCallbacks)(request, complete), CUPTI_SUCCESS);
}

void RecordingClient::record(std::initializer_list<CUpti_ActivityKind> kinds) {
  register_v1();
  for (const CUpti_ActivityKind kind : kinds) EXPECT_EQ(CUPTI_FN(cuptiActivityEnable)(kind), CUPTI_SUCCESS) << kind;
}

std::vector<GivenBuffer> RecordingClient::buffers() {
  const std::lock_guard lock(given().mutex);
  return given().buffers;
}

void RecordingClient::each_record(const std::function<void(const std::uint8_t*, std::size_t)>& each) {
  for (const GivenBuffer& buffer : buffers()) {
    auto* const begin = const_cast<std::uint8_t*>(buffer.bytes.data());
    const std::uint8_t* last = nullptr;
    CUpti_Activity* record = nullptr;
    CUptiResult result = CUPTI_SUCCESS;
    while ((result = CUPTI_FN(cuptiActivityGetNextRecord)(begin, buffer.bytes.size(), &record)) == CUPTI_SUCCESS) {
      const auto* const at = reinterpret_cast<const std::uint8_t*>(record);
      if (last != nullptr) each(last, static_cast<std::size_t>(at - last));
      last = at;
    }
    EXPECT_EQ(result, CUPTI_ERROR_MAX_LIMIT_REACHED);
    if (last != nullptr) each(last, static_cast<std::size_t>(begin + buffer.bytes.size() - last));
  }
}

std::vector<CUpti_ActivityKernel13> RecordingClient::kernels() {
  return records<CUpti_ActivityKernel13>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
}

void RecordingClient::flush(std::uint32_t flag) {
  EXPECT_EQ(CUPTI_FN(cuptiActivityFlushAll)(flag), CUPTI_SUCCESS);
}

void RecordingClient::settle_and_flush() {
  CUDA_FN(fake_cuda_settle)();
  flush();
}

HeldKernel::HeldKernel() : function_(static_cast<CUfunction>(CUDA_FN(fake_cuda_kernel)("held", body, this))) {
  mutex_.lock();
}

void HeldKernel::body(FakeCudaExecution* execution) {
  auto* const kernel = static_cast<HeldKernel*>(execution->data);
  const std::lock_guard lock(kernel->mutex_);
}

void HeldKernel::launch(CUstream stream) {
  test::launch(function_, stream);
}

void HeldKernel::release() {
  mutex_.unlock();
}

void launch(CUfunction function, CUstream stream) {
  EXPECT_EQ(CUDA_FN(cuLaunchKernel)(function, 4, 2, 1, 128, 1, 1, 256, stream, nullptr, nullptr), CUDA_SUCCESS);
}

CUfunction plain_kernel(const char* name) {
  return static_cast<CUfunction>(CUDA_FN(fake_cuda_kernel)(name, nullptr, nullptr));
}

}  // namespace jaxprof::fake_cuda::test
