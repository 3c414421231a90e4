// NVML's functions that not every driver has, and that are missing in the older of the two libraries: fields, the new
// name of the clock reasons, partitioned boards.

#include <cstdint>
#include <cstring>

#include "tests/doubles/nvml/fake_nvml.h"
#include "tests/doubles/nvml/nvml_double.h"

using namespace jaxprof::fake_nvml;

namespace {

constexpr std::int64_t kMsNs = 1'000'000;

// 40 bytes.
struct FieldAnswer {
  unsigned field, scope;
  long long time_us, latency_us;
  int type, result;
  union {
    unsigned number;
    unsigned long long wide;
  } value;
};
static_assert(sizeof(FieldAnswer) == 40);

constexpr int kNumber = 1;  // unsigned int
constexpr int kWide = 3;    // unsigned long long

void set_wide(FieldAnswer* field, std::int64_t value) {
  field->type = kWide;
  field->value.wide = static_cast<unsigned long long>(value);
}

void set_number(FieldAnswer* field, std::int64_t value) {
  field->type = kNumber;
  field->value.number = static_cast<unsigned>(value);
}

// A counter over all links; a single link has an eighteenth of it.
void set_nvlink(FieldAnswer* field, std::int64_t kib) {
  set_wide(field, field->scope == UINT32_MAX ? kib : kib / 18);
}

void set_pcie(FieldAnswer* field, std::int64_t bytes) {
  switches().pcie_bits == 64 ? set_wide(field, bytes) : set_number(field, bytes);
}

void fill(unsigned board, FieldAnswer* field) {
  const std::int64_t now = now_ns();
  const std::int64_t capped = capped_ns(board, now);
  field->result = kOk;
  switch (field->field) {
    case 74:  // nanoseconds held back by the power cap
      return set_wide(field, capped);
    case 82:
      return set_number(field, kMemoryTemperature + board);
    case 83: {  // mJ; 1 mW for a microsecond is 1e-6 mJ
      const std::int64_t mw_us =
          std::int64_t{kPower} * ((now - capped) / 1000) + std::int64_t{kPowerCap} * (capped / 1000);
      return set_wide(field, mw_us / 1'000'000);
    }
    case 138:
      return set_nvlink(field, kNvlinkTxKibAMs * (now / kMsNs));
    case 139:
      return set_nvlink(field, kNvlinkRxKibAMs * (now / kMsNs));
    case 186:
      return set_number(field, is_capped(board, now) ? kPowerCap : kPower);
    case 197:
    case 198:
      return set_pcie(field, std::int64_t{kPcieBytesAMs} * (now / kMsNs));
    default:
      field->result = kNotSupported;
  }
}

}  // namespace

FAKE_NVML_EXPORT int nvmlDeviceGetFieldValues(const void* device, int count, FieldAnswer* fields) {
  if (const int result = enter("nvmlDeviceGetFieldValues", device); result != kOk) {
    return leave("nvmlDeviceGetFieldValues", device, result);
  }
  const auto* const handle = static_cast<const Handle*>(device);
  for (int i = 0; i < count; ++i) fill(handle->board, &fields[i]);
  return leave("nvmlDeviceGetFieldValues", device, kOk);
}

FAKE_NVML_EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(const void* device, unsigned long long* bits);

FAKE_NVML_EXPORT int nvmlDeviceGetCurrentClocksEventReasons(const void* device, unsigned long long* bits) {
  return nvmlDeviceGetCurrentClocksThrottleReasons(device, bits);
}

FAKE_NVML_EXPORT int nvmlDeviceGetMigMode(const void* device, unsigned* current, unsigned* pending) {
  if (const int result = enter("nvmlDeviceGetMigMode", device); result != kOk) return result;
  *current = *pending = static_cast<unsigned>(switches().mig >> static_cast<const Handle*>(device)->board & 1);
  return kOk;
}

FAKE_NVML_EXPORT int nvmlDeviceGetMaxMigDeviceCount(const void* device, unsigned* count) {
  if (const int result = enter("nvmlDeviceGetMaxMigDeviceCount", device); result != kOk) return result;
  *count = 7;
  return kOk;
}

// Of seven places the second and the fifth are taken.
FAKE_NVML_EXPORT int nvmlDeviceGetMigDeviceHandleByIndex(const void* device, unsigned index, const void** instance) {
  if (const int result = enter("nvmlDeviceGetMigDeviceHandleByIndex", device); result != kOk) return result;
  if (index != 1 && index != 4) return kNotFound;
  *instance = handle_of(static_cast<const Handle*>(device)->board, index == 1 ? 0 : 1);
  return kOk;
}
