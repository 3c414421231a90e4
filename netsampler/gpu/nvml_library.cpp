#include "netsampler/gpu/nvml_library.h"

#include <dlfcn.h>

#include "agent/base/env.h"

namespace jaxprof::netsampler::nvml {
namespace {

constexpr const char* kPlaces[] = {
    "libnvidia-ml.so.1",  // the loader's path
    "/usr/lib64/libnvidia-ml.so.1",
    "/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",
    "/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/usr/local/nvidia/lib64/libnvidia-ml.so.1",                      // Kubernetes on Google's nodes
    "/home/kubernetes/bin/nvidia/lib64/libnvidia-ml.so.1",            // the same, outside of containers
    "/run/nvidia/driver/usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1",  // the driver as a container
    "/run/nvidia/driver/usr/lib/aarch64-linux-gnu/libnvidia-ml.so.1",
    "/run/nvidia/driver/usr/lib64/libnvidia-ml.so.1",
    "/run/opengl-driver/lib/libnvidia-ml.so.1",  // NixOS
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

void* open_one(TextBuffer* why) noexcept {
  if (const char* path = Env().get(kLibraryVariable); path != nullptr && *path != '\0') {
    void* handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (handle == nullptr) {
      const char* reason = dlerror();
      why->append(kLibraryVariable);
      why->append(" names a library that cannot be loaded: ");
      why->append(reason == nullptr ? path : reason);
    }
    return handle;
  }
  char on_path[200];
  TextBuffer reason(on_path, sizeof on_path);
  for (const char* place : kPlaces) {
    if (void* handle = dlopen(place, RTLD_NOW | RTLD_LOCAL); handle != nullptr) return handle;
    const char* words = dlerror();
    if (place == kPlaces[0] && words != nullptr) reason.append(words);
  }
  why->append("no NVML, neither where drivers put it nor on the loader's path (");
  why->append(reason.c_str());
  why->append("); ");
  why->append(kLibraryVariable);
  why->append(" can name one");
  return nullptr;
}

template <typename Function>
void find(void* handle, Function* function, const char* name, const char* older_name = nullptr) noexcept {
  void* address = dlsym(handle, name);
  if (address == nullptr && older_name != nullptr) address = dlsym(handle, older_name);
  *function = reinterpret_cast<Function>(address);
}

void resolve(void* handle, Functions* functions) noexcept {
  find(handle, &functions->init, "nvmlInit_v2");
  find(handle, &functions->error_string, "nvmlErrorString");
  find(handle, &functions->driver_version, "nvmlSystemGetDriverVersion");
  find(handle, &functions->device_count, "nvmlDeviceGetCount_v2");
  find(handle, &functions->device, "nvmlDeviceGetHandleByIndex_v2");
  find(handle, &functions->name, "nvmlDeviceGetName");
  find(handle, &functions->uuid, "nvmlDeviceGetUUID");
  find(handle, &functions->pci, "nvmlDeviceGetPciInfo_v3");
  find(handle, &functions->memory, "nvmlDeviceGetMemoryInfo");
  find(handle, &functions->power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  find(handle, &functions->max_clock, "nvmlDeviceGetMaxClockInfo");
  find(handle, &functions->mig_mode, "nvmlDeviceGetMigMode");
  find(handle, &functions->max_mig_devices, "nvmlDeviceGetMaxMigDeviceCount");
  find(handle, &functions->mig_device, "nvmlDeviceGetMigDeviceHandleByIndex");
  find(handle, &functions->clock, "nvmlDeviceGetClockInfo");
  find(handle, &functions->power, "nvmlDeviceGetPowerUsage");
  find(handle, &functions->temperature, "nvmlDeviceGetTemperature");
  find(handle, &functions->temperature_v, "nvmlDeviceGetTemperatureV");  // instead, from CUDA 14 on
  find(handle, &functions->utilization, "nvmlDeviceGetUtilizationRates");
  find(handle, &functions->clock_reasons, "nvmlDeviceGetCurrentClocksEventReasons",
       "nvmlDeviceGetCurrentClocksThrottleReasons");  // its name before R535
  find(handle, &functions->ecc_errors, "nvmlDeviceGetTotalEccErrors");
  find(handle, &functions->pcie_replays, "nvmlDeviceGetPcieReplayCounter");
  find(handle, &functions->field_values, "nvmlDeviceGetFieldValues");
}

// The first function without which there is nothing to do.
const char* missing_function(const Functions& functions) noexcept {
  if (functions.init == nullptr) return "nvmlInit_v2";
  if (functions.device_count == nullptr) return "nvmlDeviceGetCount_v2";
  if (functions.device == nullptr) return "nvmlDeviceGetHandleByIndex_v2";
  if (functions.uuid == nullptr) return "nvmlDeviceGetUUID";
  return nullptr;
}

}  // namespace

void append_result(const Functions& functions, Return result, TextBuffer* text) noexcept {
  const char* words = functions.error_string == nullptr ? nullptr : functions.error_string(result);
  text->append(words == nullptr ? "NVML error" : words);
  text->append(" (");
  text->append_number(static_cast<std::uint64_t>(result));
  text->append(')');
}

bool open_library(Functions* functions, TextBuffer* why) noexcept {
  void* handle = open_one(why);
  if (handle == nullptr) return false;
  resolve(handle, functions);
  if (const char* missing = missing_function(*functions); missing != nullptr) {
    why->append("libnvidia-ml.so.1 has no ");
    why->append(missing);
    return false;
  }
  if (const Return result = functions->init(); result != kSuccess) {
    why->append("NVML does not start: ");
    append_result(*functions, result, why);
    return false;
  }
  return true;
}

}  // namespace jaxprof::netsampler::nvml
