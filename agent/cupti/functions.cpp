#include "agent/cupti/functions.h"

#include <dlfcn.h>

#include <cstring>

namespace jaxprof::cupti {
namespace {

struct Entry {
  const char* name;
  std::size_t offset;
  bool is_required;
};

#define JAXPROF_ENTRY(name, member, is_required) \
  { name, offsetof(Functions, member), is_required }

constexpr Entry kEntries[] = {
    JAXPROF_ENTRY("cuptiGetVersion", get_version, true),
    JAXPROF_ENTRY("cuptiSubscribe", subscribe, true),
    JAXPROF_ENTRY("cuptiSubscribe_v2", subscribe_named, false),
    JAXPROF_ENTRY("cuptiUnsubscribe", unsubscribe, true),
    JAXPROF_ENTRY("cuptiEnableCallback", enable_callback, true),
    JAXPROF_ENTRY("cuptiGetCallbackName", get_callback_name, true),
    JAXPROF_ENTRY("cuptiActivityRegisterCallbacks", register_callbacks, true),
    JAXPROF_ENTRY("cuptiActivityEnable", enable, true),
    JAXPROF_ENTRY("cuptiActivityEnableAndDump", enable_and_dump, false),
    JAXPROF_ENTRY("cuptiActivityDisable", disable, true),
    JAXPROF_ENTRY("cuptiActivityFlushAll", flush_all, true),
    JAXPROF_ENTRY("cuptiActivityGetNextRecord", get_next_record, true),
    JAXPROF_ENTRY("cuptiActivityGetNumDroppedRecords", get_dropped, true),
    JAXPROF_ENTRY("cuptiActivitySetAttribute", set_attribute, true),
    JAXPROF_ENTRY("cuptiSetThreadIdType", set_thread_id_type, false),
    JAXPROF_ENTRY("cuptiGetTimestamp", get_timestamp, true),
    JAXPROF_ENTRY("cuptiActivityEnableDriverApi", enable_driver_api, false),
    JAXPROF_ENTRY("cuptiActivityEnableRuntimeApi", enable_runtime_api, false),
    JAXPROF_ENTRY("cuptiActivityPushExternalCorrelationId", push_external, false),
    JAXPROF_ENTRY("cuptiActivityPopExternalCorrelationId", pop_external, false),
    JAXPROF_ENTRY("cuptiGetContextId", get_context_id, false),
    JAXPROF_ENTRY("cuptiGetDeviceId", get_device_id, false),
    JAXPROF_ENTRY("cuptiGetStreamIdEx", get_stream_id, false),
    JAXPROF_ENTRY("cuptiGetGraphId", get_graph_id, false),
    JAXPROF_ENTRY("cuptiGetGraphNodeId", get_graph_node_id, false),
    JAXPROF_ENTRY("cuptiActivityEnableHWTrace", enable_hardware_trace, false),
    JAXPROF_ENTRY("cuptiActivityEnableCudaEventDeviceTimestamps", enable_event_timestamps, false),
    JAXPROF_ENTRY("cuptiActivityRegisterCallbacks_v2", register_callbacks_shared, false),
    JAXPROF_ENTRY("cuptiActivityEnable_v2", enable_shared, false),
    JAXPROF_ENTRY("cuptiActivityEnableAndDump_v2", enable_and_dump_shared, false),
    JAXPROF_ENTRY("cuptiActivityDisable_v2", disable_shared, false),
    JAXPROF_ENTRY("cuptiActivityGetNextRecord_v2", get_next_record_shared, false),
    JAXPROF_ENTRY("cuptiActivityGetNumDroppedRecords_v2", get_dropped_shared, false),
    JAXPROF_ENTRY("cuptiActivitySetAttribute_v2", set_attribute_shared, false),
    JAXPROF_ENTRY("cuptiGetTimestamp_v2", get_timestamp_shared, false),
    JAXPROF_ENTRY("cuptiActivityEnableDriverApi_v2", enable_driver_api_shared, false),
    JAXPROF_ENTRY("cuptiActivityEnableRuntimeApi_v2", enable_runtime_api_shared, false),
    JAXPROF_ENTRY("cuptiActivityPushExternalCorrelationId_v2", push_external_shared, false),
    JAXPROF_ENTRY("cuptiActivityPopExternalCorrelationId_v2", pop_external_shared, false),
};
#undef JAXPROF_ENTRY

static_assert(sizeof kEntries / sizeof kEntries[0] == sizeof(Functions) / sizeof(void*));

}  // namespace

const char* resolve_functions(void* library, Functions* functions) noexcept {
  for (const Entry& entry : kEntries) {
    void* symbol = dlsym(library, entry.name);
    if (symbol == nullptr && entry.is_required) return entry.name;
    std::memcpy(reinterpret_cast<char*>(functions) + entry.offset, &symbol, sizeof symbol);
  }
  return nullptr;
}

}  // namespace jaxprof::cupti
