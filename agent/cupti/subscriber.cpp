#include "agent/cupti/subscriber.h"

#include "agent/cupti/result_text.h"

namespace jaxprof::cupti {
namespace {

// What CUPTI shows to others as "CUPTI for jaxprof".
constexpr const char* kName = "jaxprof";

abi::SubscriberParams make_params(const Capability& capability, char* holder, bool allows_others) noexcept {
  abi::SubscriberParams params{};
  params.struct_bytes = capability.has_sized_params ? sizeof params : abi::kOldSubscriberParamsBytes;
  params.name = kName;
  params.holder = holder;
  params.holder_bytes = abi::kHolderNameBytes;
  params.allows_others = allows_others ? 1 : 0;
  return params;
}

void append_refusal(abi::Result result, const char* holder, TextBuffer* why) noexcept {
  if (result != abi::kMultipleSubscribers) {
    why->append("CUPTI refuses to be subscribed to: ");
    append_result(result, why);
    return;
  }
  why->append("CUPTI's one place is taken by ");
  why->append(holder[0] != '\0' ? holder : "another profiler (nsys, ncu, a debugger, the job's own)");
  why->append("; to be beside it both need CUPTI 13.3 and driver 610");
}

}  // namespace

bool Subscriber::subscribe(abi::Callback callback, const BufferCallbacks& buffers, TextBuffer* why) noexcept {
  char holder[abi::kHolderNameBytes + 1] = "";
  if (capability_.can_share && functions_->has_shared_interface() && try_shared(callback, buffers, holder)) return true;
  const abi::Result result = try_alone(callback, buffers, holder);
  if (result == abi::kSuccess) return true;
  append_refusal(result, holder, why);
  return false;
}

// False where the driver is too old for it (39, 27 and 999 were seen), or somebody is there who does not share. The
// clock is the last thing that an old driver refuses.
bool Subscriber::try_shared(abi::Callback callback, const BufferCallbacks& buffers, char* holder) noexcept {
  abi::SubscriberParams params = make_params(capability_, holder, true);
  abi::SubscriberHandle mine = nullptr;
  if (functions_->subscribe_named(&mine, callback, nullptr, &params) != abi::kSuccess) return false;
  std::uint64_t now_ns = 0;
  if (functions_->get_timestamp_shared(mine, &now_ns) != abi::kSuccess ||
      functions_->register_callbacks_shared(mine, buffers.request_shared, buffers.complete_shared) != abi::kSuccess) {
    functions_->unsubscribe(mine);
    return false;
  }
  is_shared_.store(true, std::memory_order_relaxed);
  set_thread_ids(mine);
  handle_.store(mine, std::memory_order_release);
  return true;
}

abi::Result Subscriber::try_alone(abi::Callback callback, const BufferCallbacks& buffers, char* holder) noexcept {
  is_shared_.store(false, std::memory_order_relaxed);
  abi::SubscriberHandle mine = nullptr;
  abi::Result result;
  if (functions_->subscribe_named != nullptr) {
    abi::SubscriberParams params = make_params(capability_, holder, false);
    result = functions_->subscribe_named(&mine, callback, nullptr, &params);
  } else {
    result = functions_->subscribe(&mine, callback, nullptr);
  }
  if (result != abi::kSuccess) return result;
  set_thread_ids(mine);
  result = functions_->register_callbacks(buffers.request, buffers.complete);
  if (result != abi::kSuccess) {
    functions_->unsubscribe(mine);
    return result;
  }
  handle_.store(mine, std::memory_order_release);
  return result;
}

void Subscriber::unsubscribe() noexcept {
  functions_->unsubscribe(handle_.exchange(nullptr, std::memory_order_acq_rel));
}

// Without this a record's thread is half of its pthread_self(), which nothing else in a spool knows.
void Subscriber::set_thread_ids(abi::SubscriberHandle mine) noexcept {
  abi::ThreadIdType type = abi::kThreadIdSystem;
  std::size_t bytes = sizeof type;
  if (is_shared() && functions_->set_attribute_shared != nullptr &&
      functions_->set_attribute_shared(mine, abi::kThreadIdType, &bytes, &type) == abi::kSuccess) {
    return;
  }
  if (functions_->set_thread_id_type != nullptr) functions_->set_thread_id_type(type);
}

abi::Result Subscriber::enable(abi::Kind kind) noexcept {
  return is_shared() ? functions_->enable_shared(handle(), kind, nullptr) : functions_->enable(kind);
}

abi::Result Subscriber::enable_and_dump(abi::Kind kind) noexcept {
  if (is_shared() && functions_->enable_and_dump_shared != nullptr) {
    return functions_->enable_and_dump_shared(handle(), kind, nullptr);
  }
  if (!is_shared() && functions_->enable_and_dump != nullptr) return functions_->enable_and_dump(kind);
  return enable(kind);
}

abi::Result Subscriber::disable(abi::Kind kind) noexcept {
  return is_shared() ? functions_->disable_shared(handle(), kind, nullptr) : functions_->disable(kind);
}

bool Subscriber::has_api_filter() const noexcept {
  if (!capability_.can_filter_api) return false;
  if (!is_shared()) return functions_->has_api_filter();
  return functions_->enable_driver_api_shared != nullptr && functions_->enable_runtime_api_shared != nullptr;
}

abi::Result Subscriber::enable_api(abi::Domain domain, abi::CallbackId id, bool is_on) noexcept {
  const std::uint8_t enable = is_on ? 1 : 0;
  if (domain == abi::kDriverApi) {
    return is_shared() ? functions_->enable_driver_api_shared(handle(), id, enable)
                       : functions_->enable_driver_api(id, enable);
  }
  return is_shared() ? functions_->enable_runtime_api_shared(handle(), id, enable)
                     : functions_->enable_runtime_api(id, enable);
}

abi::Result Subscriber::enable_callback(abi::Domain domain, abi::CallbackId id, bool is_on) noexcept {
  return functions_->enable_callback(is_on ? 1 : 0, handle(), domain, id);
}

abi::Result Subscriber::set_flag(abi::Attribute attribute, std::uint8_t value) noexcept {
  std::size_t bytes = sizeof value;
  if (!is_shared()) return functions_->set_attribute(attribute, &bytes, &value);
  if (functions_->set_attribute_shared == nullptr) return abi::kNotSupported;
  return functions_->set_attribute_shared(handle(), attribute, &bytes, &value);
}

abi::Result Subscriber::push_external(std::uint64_t id) noexcept {
  if (is_shared() && functions_->push_external_shared != nullptr) {
    return functions_->push_external_shared(handle(), abi::kCustom0, id);
  }
  return functions_->push_external != nullptr ? functions_->push_external(abi::kCustom0, id) : abi::kNotSupported;
}

abi::Result Subscriber::pop_external() noexcept {
  std::uint64_t last = 0;
  if (is_shared() && functions_->pop_external_shared != nullptr) {
    return functions_->pop_external_shared(handle(), abi::kCustom0, &last);
  }
  return functions_->pop_external != nullptr ? functions_->pop_external(abi::kCustom0, &last) : abi::kNotSupported;
}

abi::Result Subscriber::next_record(std::uint8_t* buffer, std::size_t bytes, void** record) noexcept {
  return is_shared() ? functions_->get_next_record_shared(handle(), buffer, bytes, record)
                     : functions_->get_next_record(buffer, bytes, record);
}

abi::Result Subscriber::timestamp(std::uint64_t* ns) noexcept {
  return is_shared() ? functions_->get_timestamp_shared(handle(), ns) : functions_->get_timestamp(ns);
}

std::uint64_t Subscriber::take_dropped() noexcept {
  std::size_t dropped = 0;
  const abi::Result result = is_shared() && functions_->get_dropped_shared != nullptr
                                 ? functions_->get_dropped_shared(handle(), nullptr, 0, &dropped)
                                 : functions_->get_dropped(nullptr, 0, &dropped);
  return result == abi::kSuccess ? dropped : 0;
}

}  // namespace jaxprof::cupti
