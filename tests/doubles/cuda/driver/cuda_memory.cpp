// Memory and copies. Device memory is host memory, so kernels' bodies and copies work on it; only whether an address
// counts as host or device memory is remembered.

#include <cuda.h>
#include <cupti.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/copy_operation.h"
#include "tests/doubles/cuda/driver/engine.h"

namespace jaxprof::fake_cuda {
namespace {

// Where device memory begins: how long it is, and whose it is.
struct DeviceBlock {
  std::size_t bytes;
  std::uint32_t device;
};
struct DeviceMemory {
  std::mutex mutex;
  std::map<CUdeviceptr, DeviceBlock> blocks;
};
DeviceMemory& device_memory() {
  static auto* const all = new DeviceMemory;
  return *all;
}

// The device that `address` is memory of; false: host memory.
bool find_device(CUdeviceptr address, std::uint32_t* device) {
  const std::lock_guard lock(device_memory().mutex);
  const auto& blocks = device_memory().blocks;
  auto after = blocks.upper_bound(address);
  if (after == blocks.begin()) return false;
  const auto& [begin, block] = *--after;
  if (address >= begin + block.bytes) return false;
  *device = block.device;
  return true;
}

}  // namespace

OperationPtr copy_operation(CUdeviceptr target, CUdeviceptr source, std::size_t bytes) {
  auto operation = std::make_unique<Operation>();
  operation->kind = kFakeCudaCopy;
  operation->bytes = bytes;
  const bool from_device = find_device(source, &operation->source_device);
  const bool to_device = find_device(target, &operation->target_device);
  operation->source = from_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  operation->target = to_device ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
  if (!from_device) operation->source_device = operation->target_device;
  if (!to_device) operation->target_device = operation->source_device;
  operation->act = [target, source, bytes] {
    std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), bytes);
  };
  return operation;
}

OperationPtr fill_operation(CUdeviceptr target, std::uint32_t value, std::size_t width, std::size_t count) {
  auto operation = std::make_unique<Operation>();
  operation->kind = kFakeCudaFill;
  operation->bytes = width * count;
  operation->fill_value = value;
  operation->act = [target, value, width, count] {
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(reinterpret_cast<char*>(target) + i * width, &value, width);  // little endian: its low bytes
    }
  };
  return operation;
}

}  // namespace jaxprof::fake_cuda

using namespace jaxprof::fake_cuda;

namespace {

CUresult submit(CUstream handle, OperationPtr operation) {
  CUstream const stream = Engine::get().resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Engine::get().submit(stream, std::move(operation));
  return CUDA_SUCCESS;
}

CUresult copy(CUdeviceptr target, CUdeviceptr source, std::size_t bytes, CUstream stream) {
  return submit(stream, copy_operation(target, source, bytes));
}

// A copy that the caller waits for, on the default stream.
CUresult copy_and_wait(CUdeviceptr target, CUdeviceptr source, std::size_t bytes) {
  const CUresult result = copy(target, source, bytes, nullptr);
  if (result == CUDA_SUCCESS) Engine::get().resolve(nullptr)->queue.synchronize();
  return result;
}

CUdeviceptr address(const void* pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

}  // namespace

extern "C" {

CUresult cuMemAlloc_v2(CUdeviceptr* memory, size_t bytes) {
  return FAKE_CUDA_TRACED(cuMemAlloc_v2, nullptr, ({memory, bytes}), [&] {
    CUcontext const context = Engine::get().current();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    void* const block = std::calloc(1, bytes);
    if (block == nullptr || bytes == 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *memory = address(block);
    const std::lock_guard lock(device_memory().mutex);
    device_memory().blocks[*memory] = {bytes, context->device};
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFree_v2(CUdeviceptr memory) {
  return FAKE_CUDA_TRACED(cuMemFree_v2, nullptr, {memory}, [&] {
    const std::lock_guard lock(device_memory().mutex);
    if (device_memory().blocks.erase(memory) == 0) return CUDA_ERROR_INVALID_VALUE;
    std::free(reinterpret_cast<void*>(memory));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocHost_v2(void** memory, size_t bytes) {
  return FAKE_CUDA_TRACED(cuMemAllocHost_v2, nullptr, ({memory, bytes}), [&] {
    *memory = std::calloc(1, bytes);
    return *memory == nullptr ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  });
}

CUresult cuMemFreeHost(void* memory) {
  return FAKE_CUDA_TRACED(cuMemFreeHost, nullptr, {memory}, [&] {
    std::free(memory);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemcpyAsync, nullptr, ({target, source, bytes, stream}),
                          [&] { return copy(target, source, bytes, stream); });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemcpyHtoDAsync_v2, nullptr, ({target, source, bytes, stream}),
                          [&] { return copy(target, address(source), bytes, stream); });
}

CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemcpyDtoHAsync_v2, nullptr, ({target, source, bytes, stream}),
                          [&] { return copy(address(target), source, bytes, stream); });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemcpyDtoDAsync_v2, nullptr, ({target, source, bytes, stream}),
                          [&] { return copy(target, source, bytes, stream); });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source, CUcontext source_context,
                           size_t bytes, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemcpyPeerAsync, nullptr, ({target, target_context, source, source_context, bytes, stream}),
                          [&] {
                            OperationPtr operation = copy_operation(target, source, bytes);
                            operation->source_device = source_context->device;
                            operation->target_device = target_context->device;
                            return submit(stream, std::move(operation));
                          });
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void* source, size_t bytes) {
  return FAKE_CUDA_TRACED(cuMemcpyHtoD_v2, nullptr, ({target, source, bytes}),
                          [&] { return copy_and_wait(target, address(source), bytes); });
}

CUresult cuMemcpyDtoH_v2(void* target, CUdeviceptr source, size_t bytes) {
  return FAKE_CUDA_TRACED(cuMemcpyDtoH_v2, nullptr, ({target, source, bytes}),
                          [&] { return copy_and_wait(address(target), source, bytes); });
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t count, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemsetD8Async, nullptr, ({target, value, count, stream}),
                          [&] { return submit(stream, fill_operation(target, value, 1, count)); });
}

CUresult cuMemsetD32Async(CUdeviceptr target, unsigned value, size_t count, CUstream stream) {
  return FAKE_CUDA_TRACED(cuMemsetD32Async, nullptr, ({target, value, count, stream}),
                          [&] { return submit(stream, fill_operation(target, value, 4, count)); });
}

}  // extern "C"
