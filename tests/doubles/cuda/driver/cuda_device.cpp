// cuInit, which loads the tool that CUDA_INJECTION64_PATH names as the real driver does, and the devices.

#include <cuda.h>
#include <cupti.h>
#include <dlfcn.h>
#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/engine.h"

namespace jaxprof::fake_cuda {
namespace {

// One path, not a list; a library that is missing or says no is ignored, and the program runs on.
void inject() {
  const char* const path = std::getenv("CUDA_INJECTION64_PATH");
  if (path == nullptr || *path == '\0') return;
  void* const library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) return;
  if (auto* const initialize = reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection"))) initialize();
}

CUresult initialize(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Engine& engine = Engine::get();
  if (!engine.is_own_process()) return CUDA_ERROR_NOT_INITIALIZED;
  static std::once_flag once;  // held while the tool initialises, as in the real driver
  std::call_once(once, [&engine] {
    engine.device_descriptor = open("/dev/null", O_RDWR | O_CLOEXEC);
    inject();
    engine.is_ready = true;
    engine.tell(ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_CU_INIT_FINISHED});
  });
  return CUDA_SUCCESS;
}

bool is_device(CUdevice device) {
  return device >= 0 && device < Engine::get().device_count();
}

int attribute_value(CUdevice_attribute attribute, CUdevice device) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return 9;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return 0;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 132;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
      return 32;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return 0x1b + device;
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
      return 1;
    default:
      return 0;
  }
}

}  // namespace

CUuuid device_uuid(std::uint32_t device) {
  CUuuid uuid{};
  std::memcpy(uuid.bytes, "fake GPU", 8);
  uuid.bytes[15] = static_cast<char>(device);
  return uuid;
}

std::string device_name(std::uint32_t device) {
  return "Fake GPU " + std::to_string(device);
}

}  // namespace jaxprof::fake_cuda

using namespace jaxprof::fake_cuda;

extern "C" {

CUresult cuInit(unsigned flags) {
  return initialize(flags);
}

CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int* count) {
  return FAKE_CUDA_TRACED(cuDeviceGetCount, nullptr, {count}, [&] {
    *count = Engine::get().device_count();
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  return FAKE_CUDA_TRACED(cuDeviceGet, nullptr, ({device, ordinal}), [&] {
    if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDeviceGetName, nullptr, ({name, length, device}), [&] {
    if (!is_device(device) || length < 1) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(name, static_cast<std::size_t>(length), "%s",
                  device_name(static_cast<std::uint32_t>(device)).c_str());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDeviceGetUuid_v2, nullptr, ({uuid, device}), [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *uuid = device_uuid(static_cast<std::uint32_t>(device));
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDeviceGetAttribute, nullptr, ({value, attribute, device}), [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *value = attribute_value(attribute, device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDeviceTotalMem_v2, nullptr, ({bytes, device}), [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = size_t{141} << 30U;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDeviceGetPCIBusId, nullptr, ({text, length, device}), [&] {
    if (!is_device(device) || length < 1) return CUDA_ERROR_INVALID_VALUE;
    std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 0x1b + device);
    return CUDA_SUCCESS;
  });
}

CUresult cuGetErrorName(CUresult error, const char** name) {
  *name = error == CUDA_SUCCESS ? "CUDA_SUCCESS" : "CUDA_ERROR_OF_THE_FAKE_DRIVER";
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult error, const char** text) {
  *text = error == CUDA_SUCCESS ? "no error" : "an error of the fake driver";
  return CUDA_SUCCESS;
}

}  // extern "C"
