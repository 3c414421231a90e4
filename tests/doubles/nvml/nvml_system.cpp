// NVML's functions about the system, and those that find devices.

#include <cstdio>
#include <cstring>
#include <ctime>
#include <string>

#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/doubles/nvml/nvml_double.h"

using namespace jaxprof::fake_nvml;

namespace {

int copy_text(const std::string& text, char* target, unsigned length) {
  constexpr int kInsufficientSize = 7;
  if (length < text.size() + 1) return kInsufficientSize;
  std::memcpy(target, text.c_str(), text.size() + 1);
  return kOk;
}

}  // namespace

FAKE_NVML_EXPORT int nvmlInit_v2() {
  const timespec span{switches().init_ms / 1000, switches().init_ms % 1000 * 1'000'000};
  nanosleep(&span, nullptr);
  return leave("nvmlInit_v2", nullptr, static_cast<int>(switches().init_result));
}

FAKE_NVML_EXPORT const char* nvmlErrorString(int result) {
  return result == kOk ? "Success" : "A result of the fake NVML";
}

FAKE_NVML_EXPORT int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return copy_text(kDriver, text, length);
}

FAKE_NVML_EXPORT int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = static_cast<unsigned>(switches().gpus);
  return leave("nvmlDeviceGetCount_v2", nullptr, kOk);
}

FAKE_NVML_EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned index, const void** device) {
  const Handle* const handle = handle_of(index, -1);
  if (handle == nullptr) return kBadArgument;
  if ((switches().denied >> index & 1) != 0) return leave("nvmlDeviceGetHandleByIndex_v2", handle, kNoPermission);
  *device = handle;
  return leave("nvmlDeviceGetHandleByIndex_v2", handle, enter("nvmlDeviceGetHandleByIndex_v2", handle));
}

FAKE_NVML_EXPORT int nvmlDeviceGetName(const void* device, char* text, unsigned length) {
  if (const int result = enter("nvmlDeviceGetName", device); result != kOk) return result;
  const bool is_instance = static_cast<const Handle*>(device)->instance >= 0;
  return copy_text(std::string(kName) + (is_instance ? " MIG 3g.71gb" : ""), text, length);
}

FAKE_NVML_EXPORT int nvmlDeviceGetUUID(const void* device, char* text, unsigned length) {
  if (const int result = enter("nvmlDeviceGetUUID", device); result != kOk) return result;
  const auto* const handle = static_cast<const Handle*>(device);
  char uuid[80];
  if (handle->instance < 0) {
    std::snprintf(uuid, sizeof uuid, "GPU-00000000-0000-0000-0000-%012u", handle->board);
  } else {
    std::snprintf(uuid, sizeof uuid, "MIG-00000000-0000-0000-%04d-%012u", handle->instance + 1, handle->board);
  }
  return copy_text(uuid, text, length);
}
