#include "tests/doubles/cuda/cupti/client.h"

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/misuse.h"

namespace jaxprof::fake_cuda {
namespace {

// From this version on each thread has a buffer of its own unless an attribute says otherwise.
constexpr std::uint32_t kPerThreadVersion = 130000;

bool is_call_domain(CUpti_CallbackDomain domain) {
  return domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
}

CallbackKind callback_kind(CUpti_CallbackDomain domain) {
  if (is_call_domain(domain)) return CallbackKind::kApi;
  return domain == CUPTI_CB_DOMAIN_STATE ? CallbackKind::kState : CallbackKind::kResource;
}

bool is_device_kind(CUpti_ActivityKind kind) {
  return kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL || kind == CUPTI_ACTIVITY_KIND_KERNEL;
}

}  // namespace

Client::Client(bool is_second_generation) : is_v2(is_second_generation) {
  const std::int64_t chosen = cupti_switches()[CuptiSwitch::kPerThread];
  buffers.set_per_thread(chosen >= 0 ? chosen != 0 : cupti_version() >= kPerThreadVersion);
}

void Client::subscribe(CUpti_CallbackFunc function, void* data) {
  data_ = data;
  function_ = function;
  is_subscribed = true;
}

void Client::unsubscribe() {
  function_ = nullptr;
  is_subscribed = false;
  for (int domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; ++domain) {
    enable_domain(static_cast<CUpti_CallbackDomain>(domain), false);
  }
}

void Client::enable_callback(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, bool is_on) {
  if (cbid >= kCbidLimit) return;
  const bool was_on = callbacks_[domain][cbid].exchange(is_on);
  if (is_call_domain(domain) && was_on != is_on) watched_calls_ += is_on ? 1 : -1;
}

void Client::enable_domain(CUpti_CallbackDomain domain, bool is_on) {
  for (std::size_t cbid = 0; cbid < kCbidLimit; ++cbid) {
    enable_callback(domain, static_cast<CUpti_CallbackId>(cbid), is_on);
  }
}

bool Client::wants(CUpti_CallbackDomain domain, CUpti_CallbackId cbid) const {
  return cbid < kCbidLimit && callbacks_[domain][cbid] && function_.load() != nullptr;
}

void Client::call_back(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void* about) {
  const CUpti_CallbackFunc function = function_;
  if (function == nullptr) return;
  const CallbackScope scope(callback_kind(domain));
  function(data_, domain, cbid, about);
}

// ---- kinds

void Client::set_kind(CUpti_ActivityKind kind, bool is_on) {
  // what the filter said before counts no more once the whole kind is chosen
  if (kind == CUPTI_ACTIVITY_KIND_DRIVER || kind == CUPTI_ACTIVITY_KIND_RUNTIME) {
    const std::size_t api = kind == CUPTI_ACTIVITY_KIND_RUNTIME ? 1 : 0;
    for (std::size_t cbid = 0; cbid < kCbidLimit; ++cbid) {
      api_allowed_[api][cbid] = false;
      api_denied_[api][cbid] = false;
    }
    is_any_api_allowed_[api] = false;
  }
  if (kind == CUPTI_ACTIVITY_KIND_OVERHEAD) buffers.set_records_overhead(is_on);
  kinds_[static_cast<std::size_t>(kind)] = is_on;
}

std::vector<CUpti_ActivityKind> Client::enabled_kinds() const {
  std::vector<CUpti_ActivityKind> enabled;
  for (int kind = 0; kind < kKindLimit; ++kind) {
    if (kinds_[kind]) enabled.push_back(static_cast<CUpti_ActivityKind>(kind));
  }
  return enabled;
}

void Client::allow_api(bool is_runtime, CUpti_CallbackId cbid, bool is_on) {
  if (cbid >= kCbidLimit) return;
  const std::size_t api = is_runtime ? 1 : 0;
  api_allowed_[api][cbid] = is_on;
  api_denied_[api][cbid] = !is_on;
  if (is_on) is_any_api_allowed_[api] = true;
}

bool Client::records_api(bool is_runtime, CUpti_CallbackId cbid) const {
  const std::size_t api = is_runtime ? 1 : 0;
  const auto kind = is_runtime ? CUPTI_ACTIVITY_KIND_RUNTIME : CUPTI_ACTIVITY_KIND_DRIVER;
  if (cbid >= kCbidLimit) return records(kind);
  return api_allowed_[api][cbid] || (records(kind) && !api_denied_[api][cbid]);
}

bool Client::has_correlation() const {
  return records(CUPTI_ACTIVITY_KIND_DRIVER) || records(CUPTI_ACTIVITY_KIND_RUNTIME) || is_any_api_allowed_[0] ||
         is_any_api_allowed_[1] || watched_calls_ > 0;
}

// ---- attributes

std::uint64_t Client::attribute(CUpti_ActivityAttribute attribute) {
  const std::lock_guard lock(mutex_);
  const auto found = attributes_.find(attribute);
  return found == attributes_.end() ? 0 : found->second;
}

void Client::set_attribute(CUpti_ActivityAttribute attribute, std::uint64_t value) {
  {
    const std::lock_guard lock(mutex_);
    attributes_[attribute] = value;
  }
  if (attribute == CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER && cupti_switches()[CuptiSwitch::kPerThread] < 0) {
    buffers.set_per_thread(value != 0);
  }
  if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER) buffers.set_zeroed(value != 0);
  if (attribute == CUPTI_ACTIVITY_ATTR_THREAD_ID_TYPE) {
    has_thread_system_ids = value == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM;
  }
}

std::uint32_t Client::thread_id() const {
  return static_cast<std::uint32_t>(has_thread_system_ids ? static_cast<std::uint64_t>(gettid())
                                                          : static_cast<std::uint64_t>(pthread_self()));
}

// ---- the ends of operations

void Client::finish(ClientToken& token, const Operation& operation) {
  const auto every = static_cast<std::uint64_t>(cupti_switches()[CuptiSwitch::kZeroEvery]);
  const bool has_times = every == 0 || ++ended_ % every != 0;
  const RecordBytes record = operation_record(operation, token.kind, has_times, token.correlation);
  if (token.is_late) {
    buffers.append(record, true);
    return;
  }
  if (!token.slot.buffer) return;  // dropped
  if (cupti_switches()[CuptiSwitch::kLateEnd] != 0 && is_device_kind(token.kind) && !records(token.kind)) {
    const std::lock_guard lock(mutex_);
    parked_.push_back({token.slot, token.kind, record});
    return;
  }
  buffers.complete(token.slot, record);
}

void Client::finish_parked(CUpti_ActivityKind kind, std::int64_t now_gpu_ns) {
  std::vector<Parked> ready;
  {
    const std::lock_guard lock(mutex_);
    const auto of_kind = [kind](const Parked& one) { return one.kind == kind; };
    std::copy_if(parked_.begin(), parked_.end(), std::back_inserter(ready), of_kind);
    parked_.erase(std::remove_if(parked_.begin(), parked_.end(), of_kind), parked_.end());
  }
  for (Parked& one : ready) {
    std::memcpy(one.record.data() + offsetof(CUpti_ActivityKernel13, end), &now_gpu_ns, sizeof now_gpu_ns);
    buffers.complete(one.slot, one.record);
  }
}

}  // namespace jaxprof::fake_cuda
