#include "agent/cupti/kinds.h"

#include "agent/contract/trace_kinds.h"
#include "agent/cupti/api_calls.h"
#include "agent/cupti/result_text.h"

namespace jaxprof::cupti {
namespace {

void separate(TextBuffer* note) noexcept {
  if (note->size() > 0) note->append("; ");
}

// The first refusal of a call is that of all: an id that the library does not know is not one.
void set_api(Subscriber* subscriber, abi::Domain domain, bool is_on) noexcept {
  const ApiRanges all = ranges_of(domain);
  for (std::size_t i = 0; i < all.count; ++i) {
    for (std::uint32_t id = all.ranges[i].first; id <= all.ranges[i].last; ++id)
      subscriber->enable_api(domain, id, is_on);
  }
}

}  // namespace

void Kinds::add(abi::Kind kind, const char* name, bool has_past) noexcept {
  if (count_ < kMaxChoices) choices_[count_++] = {kind, name, has_past};
}

void Kinds::choose(std::uint32_t trace) noexcept {
  trace_ = trace;
  count_ = 0;
  add(abi::kDevice, nullptr, true);
  add(abi::kContext, nullptr, true);
  add(abi::kStream, nullptr, true);
  add(abi::kConcurrentKernel, "kernels");
  if ((trace & kTraceGraph) != 0) add(abi::kGraphTrace, "whole graphs");
  add(abi::kMemcpy, "copies");
  add(abi::kMemcpyPeer, nullptr);  // the first interface has it with the others
  add(abi::kMemset, "memsets");
  add(abi::kOverhead, "overhead");
  if ((trace & kTraceNccl) != 0) add(abi::kExternalCorrelation, "external correlation");
  if ((trace & kTraceSync) != 0) add(abi::kSynchronization, "synchronisation");
  if ((trace & kTraceEvents) != 0) add(abi::kCudaEvent, "CUDA events");
}

void Kinds::prepare(Subscriber* subscriber, const Library& library, TextBuffer* note) noexcept {
  subscriber->set_flag(abi::kZeroedOutBuffer, 1);
  if ((trace_ & kTraceGraph) != 0 && subscriber->is_shared()) subscriber->set_flag(abi::kSharedGraphTrace, 1);
  if ((trace_ & kTraceEvents) != 0) {
    if (subscriber->is_shared()) {
      subscriber->set_flag(abi::kEventDeviceTimestamps, 1);
    } else if (library.functions.enable_event_timestamps != nullptr) {
      library.functions.enable_event_timestamps(1);
    }
  }
  if ((trace_ & kTraceHardware) == 0) return;
  abi::Result result = abi::kNotSupported;
  if (!library.capability.can_trace_hardware) {
    separate(note);
    note->append("hardware events need CUPTI 13.4.1");
    return;
  }
  if (subscriber->is_shared()) {
    result = subscriber->set_flag(abi::kEnableHes, 1);
  } else if (library.functions.enable_hardware_trace != nullptr) {
    result = library.functions.enable_hardware_trace(1);
  }
  if (result == abi::kSuccess) return;
  separate(note);
  note->append("no hardware events: ");
  append_result(result, note);
}

bool Kinds::enable(Subscriber* subscriber, TextBuffer* note) noexcept {
  enabled_ = 0;
  abi::Result told = abi::kSuccess;
  for (std::uint32_t i = 0; i < count_; ++i) {
    const Choice& choice = choices_[i];
    const abi::Result result =
        choice.has_past ? subscriber->enable_and_dump(choice.kind) : subscriber->enable(choice.kind);
    if (result == abi::kSuccess) {
      enabled_ |= 1U << i;
      continue;
    }
    if (choice.name == nullptr || result == told) continue;  // one reason for several is said once
    told = result;
    separate(note);
    note->append("no ");
    note->append(choice.name);
    note->append(": ");
    append_result(result, note);
    if (choice.kind == abi::kConcurrentKernel) {
      disable(subscriber);
      return false;
    }
  }
  filters_api_ = subscriber->has_api_filter();
  if (filters_api_) {
    set_api(subscriber, abi::kDriverApi, true);
    set_api(subscriber, abi::kRuntimeApi, true);
  } else {
    subscriber->enable(abi::kDriver);
    subscriber->enable(abi::kRuntime);
  }
  return true;
}

void Kinds::disable(Subscriber* subscriber) noexcept {
  if (filters_api_) {
    set_api(subscriber, abi::kDriverApi, false);
    set_api(subscriber, abi::kRuntimeApi, false);
  } else {
    subscriber->disable(abi::kDriver);
    subscriber->disable(abi::kRuntime);
  }
  for (std::uint32_t i = count_; i-- > 0;) {
    if ((enabled_ >> i & 1) != 0) subscriber->disable(choices_[i].kind);
  }
  enabled_ = 0;
}

}  // namespace jaxprof::cupti
