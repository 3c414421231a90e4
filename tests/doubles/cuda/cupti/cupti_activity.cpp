// The V1 functions of the activity interface.

#include <cupti.h>
#include <time.h>

#include "tests/doubles/cuda/cupti/activity_calls.h"
#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/guard.h"
#include "tests/doubles/cuda/cupti/misuse.h"

using namespace jaxprof::fake_cuda;

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request,
                                           CUpti_BuffersCallbackCompleteFunc complete) {
  if (is_forked_child("cuptiActivityRegisterCallbacks")) return CUPTI_ERROR_UNKNOWN;
  if (request == nullptr || complete == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  if (Tool::get().has_v2_subscriber()) return remember(CUPTI_ERROR_NOT_COMPATIBLE);
  Tool::get().first().buffers.set_callbacks({request, complete, nullptr, nullptr});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const CUptiResult result = may_run_v1("cuptiActivityEnable");
  return result != CUPTI_SUCCESS ? result : enable_kind(Tool::get().first(), kind, false);
}

CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind) {
  const CUptiResult result = may_run_v1("cuptiActivityEnableAndDump");
  return result != CUPTI_SUCCESS ? result : enable_kind(Tool::get().first(), kind, true);
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const CUptiResult result = may_run_v1("cuptiActivityDisable");
  return result != CUPTI_SUCCESS ? result : disable_kind(Tool::get().first(), kind);
}

CUptiResult cuptiActivityFlushAll(uint32_t flag) {
  const bool is_forced = (flag & CUPTI_ACTIVITY_FLAG_FLUSH_FORCED) != 0;
  const auto& setting = cupti_switches();
  if (is_forked_child("cuptiActivityFlushAll")) {
    if (setting[CuptiSwitch::kForkHang] != 0) hang();
    return CUPTI_ERROR_UNKNOWN;
  }
  if (const CUptiResult result = may_run("cuptiActivityFlushAll"); result != CUPTI_SUCCESS) return result;
  const CallbackKind running = running_callback();
  if (running != CallbackKind::kNone && running != CallbackKind::kApi) {
    violation(counts().flush_in_callback, "flush_in_callback", "cuptiActivityFlushAll");
    return remember(CUPTI_ERROR_INVALID_OPERATION);
  }
  ++counts().flushes;
  need_descriptors("cuptiActivityFlushAll");
  need_stack("cuptiActivityFlushAll");
  if (is_forced) ++counts().forced_flushes;
  if (!Tool::get().has_buffers()) ++counts().idle_flushes;
  const std::int64_t hanging = setting[CuptiSwitch::kFlushHang];
  if (hanging == 1 || (hanging == 2 && is_forced)) hang();
  if (const std::int64_t us = setting[CuptiSwitch::kFlushUs]; us > 0) {
    const timespec duration{us / 1'000'000, us % 1'000'000 * 1000};
    nanosleep(&duration, nullptr);
  }
  Tool::get().flush(is_forced);
  return CUPTI_SUCCESS;
}

// Only full and complete buffers are given back so, and those are at once.
CUptiResult cuptiActivityFlushPeriod(uint32_t) {
  return may_run("cuptiActivityFlushPeriod");
}

CUptiResult cuptiActivityGetNextRecord(uint8_t* buffer, size_t valid_bytes, CUpti_Activity** record) {
  return next_record(buffer, valid_bytes, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, uint32_t, size_t* dropped) {
  if (const CUptiResult result = may_run_v1("cuptiActivityGetNumDroppedRecords"); result != CUPTI_SUCCESS) {
    return result;
  }
  *dropped = Tool::get().first().buffers.take_dropped();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t* size, void* value) {
  const CUptiResult result = may_run_v1("cuptiActivitySetAttribute");
  return result != CUPTI_SUCCESS ? result : set_attribute(Tool::get().first(), attribute, size, value);
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attribute, size_t* size, void* value) {
  const CUptiResult result = may_run_v1("cuptiActivityGetAttribute");
  return result != CUPTI_SUCCESS ? result : get_attribute(Tool::get().first(), attribute, size, value);
}

CUptiResult cuptiSetThreadIdType(CUpti_ActivityThreadIdType type) {
  if (const CUptiResult result = may_run_v1("cuptiSetThreadIdType"); result != CUPTI_SUCCESS) return result;
  Tool::get().first().has_thread_system_ids = type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetThreadIdType(CUpti_ActivityThreadIdType* type) {
  if (const CUptiResult result = may_run_v1("cuptiGetThreadIdType"); result != CUPTI_SUCCESS) return result;
  *type = Tool::get().first().has_thread_system_ids ? CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM
                                                    : CUPTI_ACTIVITY_THREAD_ID_TYPE_DEFAULT;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable) {
  if (const CUptiResult result = may_run_v1("cuptiActivityEnableDriverApi"); result != CUPTI_SUCCESS) return result;
  Tool::get().first().allow_api(false, cbid, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable) {
  if (const CUptiResult result = may_run_v1("cuptiActivityEnableRuntimeApi"); result != CUPTI_SUCCESS) return result;
  Tool::get().first().allow_api(true, cbid, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityPushExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t id) {
  const CUptiResult result = may_run_v1("cuptiActivityPushExternalCorrelationId");
  if (result == CUPTI_SUCCESS) Tool::get().push_external(&Tool::get().first(), kind, id);
  return result;
}

CUptiResult cuptiActivityPopExternalCorrelationId(CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  const CUptiResult result = may_run_v1("cuptiActivityPopExternalCorrelationId");
  if (result != CUPTI_SUCCESS) return result;
  return remember(Tool::get().pop_external(&Tool::get().first(), kind, last) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY);
}

CUptiResult cuptiGetTimestamp(uint64_t* timestamp) {
  if (const CUptiResult result = may_run_v1("cuptiGetTimestamp"); result != CUPTI_SUCCESS) return result;
  *timestamp = static_cast<uint64_t>(Tool::get().driver()->now_gpu_ns());
  return CUPTI_SUCCESS;
}

// Its use is what is counted; the clock stays.
CUptiResult cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function) {
  if (function == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  ++counts().timestamp_callbacks;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiFinalize(void) {
  if (is_forked_child("cuptiFinalize")) return CUPTI_ERROR_UNKNOWN;
  ++counts().finalize_calls;
  Tool::get().finalize();
  return CUPTI_SUCCESS;
}

int fake_cupti_set(const char* name, int64_t value) {
  return cupti_switches().set(name, value) ? 1 : 0;
}

}  // extern "C"
