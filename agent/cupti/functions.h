// The functions of the libcupti that was found, by name. CUPTI's interface has two generations: in the second ("_v2",
// since 13.2) each call names its subscriber, and several may share a process. A pointer is null where the library
// lacks the function.
#pragma once

#include <cstddef>
#include <cstdint>

#include "agent/cupti/cupti_abi.h"

namespace jaxprof::cupti {

struct Functions {
  abi::Result (*get_version)(std::uint32_t*) = nullptr;
  abi::Result (*subscribe)(abi::SubscriberHandle*, abi::Callback, void* user) = nullptr;
  abi::Result (*subscribe_named)(abi::SubscriberHandle*, abi::Callback, void* user, abi::SubscriberParams*) = nullptr;
  abi::Result (*unsubscribe)(abi::SubscriberHandle) = nullptr;
  abi::Result (*enable_callback)(std::uint32_t enable, abi::SubscriberHandle, abi::Domain, abi::CallbackId) = nullptr;
  abi::Result (*get_callback_name)(abi::Domain, std::uint32_t, const char**) = nullptr;
  abi::Result (*register_callbacks)(abi::RequestBuffer, abi::CompleteBuffer) = nullptr;
  abi::Result (*enable)(abi::Kind) = nullptr;
  abi::Result (*enable_and_dump)(abi::Kind) = nullptr;
  abi::Result (*disable)(abi::Kind) = nullptr;
  abi::Result (*flush_all)(std::uint32_t flag) = nullptr;
  abi::Result (*get_next_record)(std::uint8_t*, std::size_t, void** record) = nullptr;
  abi::Result (*get_dropped)(abi::Context, std::uint32_t stream, std::size_t* dropped) = nullptr;
  abi::Result (*set_attribute)(abi::Attribute, std::size_t* value_bytes, void* value) = nullptr;
  abi::Result (*set_thread_id_type)(abi::ThreadIdType) = nullptr;
  abi::Result (*get_timestamp)(std::uint64_t*) = nullptr;
  abi::Result (*enable_driver_api)(abi::CallbackId, std::uint8_t enable) = nullptr;
  abi::Result (*enable_runtime_api)(abi::CallbackId, std::uint8_t enable) = nullptr;
  abi::Result (*push_external)(abi::ExternalKind, std::uint64_t id) = nullptr;
  abi::Result (*pop_external)(abi::ExternalKind, std::uint64_t* last) = nullptr;
  abi::Result (*get_context_id)(abi::Context, std::uint32_t*) = nullptr;
  abi::Result (*get_device_id)(abi::Context, std::uint32_t*) = nullptr;
  abi::Result (*get_stream_id)(abi::Context, abi::Stream, std::uint8_t per_thread, std::uint32_t*) = nullptr;
  abi::Result (*get_graph_id)(abi::Graph, std::uint32_t*) = nullptr;
  abi::Result (*get_graph_node_id)(abi::GraphNode, std::uint64_t*) = nullptr;
  abi::Result (*enable_hardware_trace)(std::uint8_t enable) = nullptr;
  abi::Result (*enable_event_timestamps)(std::uint8_t enable) = nullptr;

  abi::Result (*register_callbacks_shared)(abi::SubscriberHandle, abi::RequestBufferShared,
                                           abi::CompleteBufferShared) = nullptr;
  abi::Result (*enable_shared)(abi::SubscriberHandle, abi::Kind, void* config) = nullptr;
  abi::Result (*enable_and_dump_shared)(abi::SubscriberHandle, abi::Kind, void* config) = nullptr;
  abi::Result (*disable_shared)(abi::SubscriberHandle, abi::Kind, void* config) = nullptr;
  abi::Result (*get_next_record_shared)(abi::SubscriberHandle, std::uint8_t*, std::size_t, void** record) = nullptr;
  abi::Result (*get_dropped_shared)(abi::SubscriberHandle, abi::Context, std::uint32_t, std::size_t*) = nullptr;
  abi::Result (*set_attribute_shared)(abi::SubscriberHandle, abi::Attribute, std::size_t*, void*) = nullptr;
  abi::Result (*get_timestamp_shared)(abi::SubscriberHandle, std::uint64_t*) = nullptr;
  abi::Result (*enable_driver_api_shared)(abi::SubscriberHandle, abi::CallbackId, std::uint8_t enable) = nullptr;
  abi::Result (*enable_runtime_api_shared)(abi::SubscriberHandle, abi::CallbackId, std::uint8_t enable) = nullptr;
  abi::Result (*push_external_shared)(abi::SubscriberHandle, abi::ExternalKind, std::uint64_t id) = nullptr;
  abi::Result (*pop_external_shared)(abi::SubscriberHandle, abi::ExternalKind, std::uint64_t* last) = nullptr;

  // All that is needed to share CUPTI: 13.2 has some of them, and is not enough.
  bool has_shared_interface() const noexcept {
    return subscribe_named != nullptr && register_callbacks_shared != nullptr && enable_shared != nullptr &&
           disable_shared != nullptr && get_next_record_shared != nullptr && get_timestamp_shared != nullptr;
  }
  bool has_api_filter() const noexcept { return enable_driver_api != nullptr && enable_runtime_api != nullptr; }
};

// Looks all of them up in `library`, of dlopen(). Null if the library has what the agent cannot do without; else the
// name of the first that is missing.
const char* resolve_functions(void* library, Functions* functions) noexcept;

}  // namespace jaxprof::cupti
