// NVML's functions about one device that every driver has.

#include <cstdio>
#include <cstring>

#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/doubles/nvml/nvml_double.h"

using namespace jaxprof::fake_nvml;

namespace {

// 68 bytes: legacy text, domain, bus, device, two ids, text.
struct PciAnswer {
  char legacy[16];
  unsigned domain, bus, device, ids, subsystem;
  char text[32];
};
static_assert(sizeof(PciAnswer) == 68);

struct MemoryAnswer {
  unsigned long long total, free, used;
};

struct UtilizationAnswer {
  unsigned gpu, memory;
};

unsigned board_of(const void* device) {
  return static_cast<const Handle*>(device)->board;
}

bool is_instance(const void* device) {
  return static_cast<const Handle*>(device)->instance >= 0;
}

// A function that answers with one value of a board; instances have none.
template <typename Value, typename Compute>
int answer(const char* function, const void* device, Value* value, Compute compute) {
  int result = enter(function, device);
  if (result == kOk && is_instance(device)) result = kNotSupported;
  if (result == kOk) *value = static_cast<Value>(compute(board_of(device), now_ns()));
  return leave(function, device, result);
}

}  // namespace

FAKE_NVML_EXPORT int nvmlDeviceGetPciInfo_v3(const void* device, PciAnswer* pci) {
  if (const int result = enter("nvmlDeviceGetPciInfo_v3", device); result != kOk) return result;
  *pci = {};
  pci->bus = kFirstBus + board_of(device);
  std::snprintf(pci->text, sizeof pci->text, "00000000:%02X:00.0", pci->bus);
  std::snprintf(pci->legacy, sizeof pci->legacy, "0000:%02X:00.0", pci->bus);
  return kOk;
}

FAKE_NVML_EXPORT int nvmlDeviceGetMemoryInfo(const void* device, MemoryAnswer* memory) {
  if (const int result = enter("nvmlDeviceGetMemoryInfo", device); result != kOk) return result;
  const auto total = is_instance(device) ? kMemoryBytes / 2 : kMemoryBytes;
  *memory = {total, total, 0};
  return kOk;
}

FAKE_NVML_EXPORT int nvmlDeviceGetEnforcedPowerLimit(const void* device, unsigned* milliwatts) {
  return answer("nvmlDeviceGetEnforcedPowerLimit", device, milliwatts, [](unsigned, auto) { return kPowerCap; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetMaxClockInfo(const void* device, int, unsigned* mhz) {
  return answer("nvmlDeviceGetMaxClockInfo", device, mhz, [](unsigned, auto) { return kMaxSmClock; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetClockInfo(const void* device, int type, unsigned* mhz) {
  constexpr int kSm = 1;
  constexpr int kMemory = 2;
  if (type != kSm && type != kMemory) return leave("nvmlDeviceGetClockInfo", device, kBadArgument);
  return answer("nvmlDeviceGetClockInfo", device, mhz, [type](unsigned board, auto now) {
    if (type == kMemory) return kMemoryClock;
    return is_capped(board, now) ? kCappedSmClock : kSmClock;
  });
}

FAKE_NVML_EXPORT int nvmlDeviceGetPowerUsage(const void* device, unsigned* milliwatts) {
  return answer("nvmlDeviceGetPowerUsage", device, milliwatts,
                [](unsigned board, auto now) { return is_capped(board, now) ? kPowerCap : kPower; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetTemperature(const void* device, int sensor, unsigned* celsius) {
  if (sensor != 0) return leave("nvmlDeviceGetTemperature", device, kBadArgument);
  return answer("nvmlDeviceGetTemperature", device, celsius, [](unsigned board, auto) { return kTemperature + board; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetUtilizationRates(const void* device, UtilizationAnswer* both) {
  return answer("nvmlDeviceGetUtilizationRates", device, both, [](unsigned, auto) {
    return UtilizationAnswer{kUtilization, kMemoryUtilization};
  });
}

FAKE_NVML_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const void* device, unsigned long long* bits) {
  constexpr unsigned kSwPowerCap = 4;
  return answer("nvmlDeviceGetCurrentClocksThrottleReasons", device, bits,
                [](unsigned board, auto now) { return is_capped(board, now) ? kSwPowerCap : 0U; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetTotalEccErrors(const void* device, int type, int counter, unsigned long long* count) {
  if (counter != 0) return leave("nvmlDeviceGetTotalEccErrors", device, kBadArgument);
  return answer("nvmlDeviceGetTotalEccErrors", device, count,
                [type](unsigned board, auto) { return type == 0 ? kEccCorrected + board : 0U; });
}

FAKE_NVML_EXPORT int nvmlDeviceGetPcieReplayCounter(const void* device, unsigned* count) {
  return answer("nvmlDeviceGetPcieReplayCounter", device, count, [](unsigned, auto) { return kPcieReplays; });
}
