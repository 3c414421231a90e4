// The interface for several subscribers (13.2 on): the functions of V1, each for the client of a handle. Libraries of
// older versions are built without this file.

#include <cupti.h>

#include <algorithm>

#include "tests/doubles/cuda/cupti/activity_calls.h"
#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/guard.h"
#include "tests/doubles/cuda/cupti/misuse.h"

using namespace jaxprof::fake_cuda;

extern "C" {

CUptiResult cuptiActivityRegisterCallbacks_v2(CUpti_SubscriberHandle subscriber,
                                              CUpti_BuffersCallbackRequestFunc_v2 request,
                                              CUpti_BuffersCallbackCompleteFunc_v2 complete) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityRegisterCallbacks_v2", subscriber, &client);
  if (result != CUPTI_SUCCESS) return result;
  if (request == nullptr || complete == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  client->buffers.set_callbacks({nullptr, nullptr, request, complete});
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, CUpti_ActivityConfig*) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityEnable_v2", subscriber, &client);
  return result != CUPTI_SUCCESS ? result : enable_kind(*client, kind, false);
}

CUptiResult cuptiActivityEnableAndDump_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind,
                                          CUpti_ActivityConfig*) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityEnableAndDump_v2", subscriber, &client);
  return result != CUPTI_SUCCESS ? result : enable_kind(*client, kind, true);
}

CUptiResult cuptiActivityDisable_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind kind, CUpti_ActivityConfig*) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityDisable_v2", subscriber, &client);
  return result != CUPTI_SUCCESS ? result : disable_kind(*client, kind);
}

CUptiResult cuptiActivitySetAttribute_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityAttribute attribute,
                                         size_t* size, void* value) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivitySetAttribute_v2", subscriber, &client);
  if (result == CUPTI_SUCCESS && attribute == CUPTI_ACTIVITY_ATTR_ENABLE_HES) return enable_hardware_trace();
  return result != CUPTI_SUCCESS ? result : set_attribute(*client, attribute, size, value);
}

CUptiResult cuptiActivityGetAttribute_v2(CUpti_SubscriberHandle subscriber, CUpti_ActivityAttribute attribute,
                                         size_t* size, void* value) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityGetAttribute_v2", subscriber, &client);
  return result != CUPTI_SUCCESS ? result : get_attribute(*client, attribute, size, value);
}

CUptiResult cuptiActivityGetNextRecord_v2(CUpti_SubscriberHandle subscriber, uint8_t* buffer, size_t valid_bytes,
                                          CUpti_Activity** record) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityGetNextRecord_v2", subscriber, &client);
  return result != CUPTI_SUCCESS ? result : next_record(buffer, valid_bytes, record);
}

CUptiResult cuptiActivityGetNumDroppedRecords_v2(CUpti_SubscriberHandle subscriber, CUcontext, uint32_t,
                                                 size_t* dropped) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityGetNumDroppedRecords_v2", subscriber, &client);
  if (result == CUPTI_SUCCESS) *dropped = client->buffers.take_dropped();
  return result;
}

CUptiResult cuptiGetTimestamp_v2(CUpti_SubscriberHandle subscriber, uint64_t* timestamp) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiGetTimestamp_v2", subscriber, &client);
  if (result != CUPTI_SUCCESS) return result;
  if (const std::int64_t scripted = cupti_switches()[CuptiSwitch::kV2Result]; scripted != 0) {
    return remember(static_cast<CUptiResult>(scripted));
  }
  *timestamp = static_cast<uint64_t>(Tool::get().driver()->now_gpu_ns());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId cbid, uint8_t enable) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityEnableDriverApi_v2", subscriber, &client);
  if (result == CUPTI_SUCCESS) client->allow_api(false, cbid, enable != 0);
  return result;
}

CUptiResult cuptiActivityEnableRuntimeApi_v2(CUpti_SubscriberHandle subscriber, CUpti_CallbackId cbid, uint8_t enable) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityEnableRuntimeApi_v2", subscriber, &client);
  if (result == CUPTI_SUCCESS) client->allow_api(true, cbid, enable != 0);
  return result;
}

CUptiResult cuptiActivityPushExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                      CUpti_ExternalCorrelationKind kind, uint64_t id) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityPushExternalCorrelationId_v2", subscriber, &client);
  if (result == CUPTI_SUCCESS) Tool::get().push_external(client, kind, id);
  return result;
}

CUptiResult cuptiActivityPopExternalCorrelationId_v2(CUpti_SubscriberHandle subscriber,
                                                     CUpti_ExternalCorrelationKind kind, uint64_t* last) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityPopExternalCorrelationId_v2", subscriber, &client);
  if (result != CUPTI_SUCCESS) return result;
  return remember(Tool::get().pop_external(client, kind, last) ? CUPTI_SUCCESS : CUPTI_ERROR_QUEUE_EMPTY);
}

CUptiResult cuptiIsTracingSessionRunning(uint8_t* is_running) {
  if (is_running == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  *is_running = counts().subscriptions > 0 ? 1 : 0;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetEnabledKinds(CUpti_SubscriberHandle subscriber, CUpti_ActivityKind* buffer,
                                         uint32_t* capacity, uint32_t* count) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiActivityGetEnabledKinds", subscriber, &client);
  if (result != CUPTI_SUCCESS) return result;
  const auto kinds = client->enabled_kinds();
  if (buffer != nullptr) std::copy_n(kinds.begin(), std::min<std::size_t>(kinds.size(), *capacity), buffer);
  *count = static_cast<uint32_t>(kinds.size());
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetStructSize(CUpti_ActivityKind kind, uint32_t version, size_t* bytes) {
  if (bytes == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  if (version != 0 && version < 130000) return remember(CUPTI_ERROR_NOT_SUPPORTED);
  const std::size_t stride = record_stride(version == 0 ? cupti_version() : version, kind);
  if (stride == 0) return remember(CUPTI_ERROR_INVALID_KIND);
  *bytes = stride;
  return CUPTI_SUCCESS;
}

}  // extern "C"
