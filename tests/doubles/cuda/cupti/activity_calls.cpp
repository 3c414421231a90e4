#include "tests/doubles/cuda/cupti/activity_calls.h"

#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/guard.h"
#include "tests/doubles/cuda/cupti/misuse.h"
#include "tests/doubles/cuda/cupti/record_layout.h"

namespace jaxprof::fake_cuda {

void hang() {
  for (;;) pause();
}

CUptiResult enable_kind(Client& client, CUpti_ActivityKind kind, bool dumps) {
  ++counts().enables;
  need_descriptors("cuptiActivityEnable");
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= kKindLimit || record_stride(cupti_version(), kind) == 0) {
    return remember(CUPTI_ERROR_INVALID_KIND);
  }
  const auto& setting = cupti_switches();
  const std::int64_t only = setting[CuptiSwitch::kEnableResultKind];
  if (setting[CuptiSwitch::kEnableResult] != 0 && (only == 0 || only == kind)) {
    return remember(static_cast<CUptiResult>(setting[CuptiSwitch::kEnableResult]));
  }
  // whole graphs and their nodes exclude each other only in what is recorded; both kernel kinds exclude each other
  const bool has_other_kernels =
      (kind == CUPTI_ACTIVITY_KIND_KERNEL && client.records(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) ||
      (kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && client.records(CUPTI_ACTIVITY_KIND_KERNEL));
  if (has_other_kernels) return remember(CUPTI_ERROR_NOT_COMPATIBLE);
  client.set_kind(kind, true);
  // in V1 copies between devices come with the others
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) client.set_kind(CUPTI_ACTIVITY_KIND_MEMCPY2, true);
  client.finish_parked(kind, Tool::get().driver()->now_gpu_ns());
  if (dumps) Tool::get().dump(client, kind);
  return CUPTI_SUCCESS;
}

CUptiResult disable_kind(Client& client, CUpti_ActivityKind kind) {
  ++counts().disables;
  need_descriptors("cuptiActivityDisable");
  if (cupti_switches()[CuptiSwitch::kDisableHang] != 0) hang();
  if (kind <= CUPTI_ACTIVITY_KIND_INVALID || kind >= kKindLimit || record_stride(cupti_version(), kind) == 0) {
    return remember(CUPTI_ERROR_INVALID_KIND);
  }
  client.set_kind(kind, false);
  if (kind == CUPTI_ACTIVITY_KIND_MEMCPY) client.set_kind(CUPTI_ACTIVITY_KIND_MEMCPY2, false);
  return CUPTI_SUCCESS;
}

CUptiResult set_attribute(Client& client, CUpti_ActivityAttribute attribute, const size_t* size, const void* value) {
  if (size == nullptr || value == nullptr || attribute < 0 || attribute >= CUPTI_ACTIVITY_ATTR_COUNT) {
    return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  std::uint64_t number = 0;
  if (*size > sizeof number) return remember(CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT);
  std::memcpy(&number, value, *size);
  client.set_attribute(attribute, number);
  return CUPTI_SUCCESS;
}

CUptiResult enable_hardware_trace() {
  if (cupti_switches()[CuptiSwitch::kHes] == 0) return remember(CUPTI_ERROR_NOT_SUPPORTED);
  // what a context writes is settled when it is made
  if (!Tool::get().driver()->contexts().empty()) return remember(CUPTI_ERROR_INVALID_OPERATION);
  ++counts().hardware_traces;
  return CUPTI_SUCCESS;
}

CUptiResult get_attribute(Client& client, CUpti_ActivityAttribute attribute, size_t* size, void* value) {
  if (size == nullptr || value == nullptr || attribute < 0 || attribute >= CUPTI_ACTIVITY_ATTR_COUNT) {
    return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  const std::uint64_t number = client.attribute(attribute);
  std::memcpy(value, &number, std::min(*size, sizeof number));
  return CUPTI_SUCCESS;
}

CUptiResult next_record(std::uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  if (buffer == nullptr || record == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  auto* at = reinterpret_cast<std::uint8_t*>(*record);
  const auto kind_at = [](const std::uint8_t* place) {
    std::int32_t kind = 0;
    std::memcpy(&kind, place, sizeof kind);
    return static_cast<CUpti_ActivityKind>(kind);
  };
  const std::uint32_t version = cupti_version();
  at = at == nullptr ? buffer : at + record_stride(version, kind_at(at));
  if (at >= buffer + valid_bytes) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  if (record_stride(version, kind_at(at)) == 0) return remember(CUPTI_ERROR_INVALID_KIND);
  *record = reinterpret_cast<CUpti_Activity*>(at);
  return CUPTI_SUCCESS;
}

}  // namespace jaxprof::fake_cuda
