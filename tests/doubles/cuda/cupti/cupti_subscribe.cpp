// Subscribers and their callbacks. A process has one place for a tool: the driver keeps it, so that two libraries with
// a CUPTI inside are in each other's way as two tools are.

#include <cupti.h>
#include <time.h>

#include <cstring>
#include <string>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/guard.h"
#include "tests/doubles/cuda/cupti/misuse.h"

using namespace jaxprof::fake_cuda;

namespace {

// From this version on there can be several V2 subscribers; from 13.2 on the parameter structure has the request.
constexpr std::uint32_t kMultipleVersion = 130300;
constexpr std::uint32_t kNamesVersion = 130000;

CUptiResult refuse(CUptiResult result) {
  ++counts().refused_subscriptions;
  return remember(result);
}

CUptiResult subscribe(Client* client, CUpti_CallbackFunc callback, void* data, const std::string& name, bool is_shared,
                      std::string* holder) {
  Tool& tool = Tool::get();
  need_descriptors("cuptiSubscribe");
  if (const std::int64_t us = cupti_switches()[CuptiSwitch::kSubscribeUs]; us > 0) {
    const timespec duration{us / 1'000'000, us % 1'000'000 * 1000};
    nanosleep(&duration, nullptr);
  }
  if (const std::int64_t result = cupti_switches()[CuptiSwitch::kSubscribeResult]; result != 0) {
    *holder = "nsys";
    return refuse(static_cast<CUptiResult>(result));
  }
  if (client == nullptr) return refuse(CUPTI_ERROR_MAX_LIMIT_REACHED);
  if (!tool.driver()->take_slot(name, is_shared, holder)) return refuse(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  client->name = name;
  client->is_shared = is_shared;
  client->subscribe(callback, data);
  ++counts().subscriptions;
  return CUPTI_SUCCESS;
}

// Does the structure that the caller's headers have reach as far as the request for several?
bool asks_for_several(const CUpti_SubscriberParams& parameters) {
  return parameters.structSize > offsetof(CUpti_SubscriberParams, allowMultipleSubscribers) &&
         parameters.allowMultipleSubscribers != 0;
}

}  // namespace

extern "C" {

CUptiResult cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userdata) {
  if (const CUptiResult result = may_run("cuptiSubscribe"); result != CUPTI_SUCCESS) return result;
  if (subscriber == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  std::string holder;
  Client& client = Tool::get().first();
  const CUptiResult result = subscribe(&client, callback, userdata, "CUPTI", false, &holder);
  if (result == CUPTI_SUCCESS) *subscriber = Tool::handle(&client);
  return result;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* userdata,
                              CUpti_SubscriberParams* parameters) {
  if (const CUptiResult result = may_run("cuptiSubscribe_v2"); result != CUPTI_SUCCESS) return result;
  if (subscriber == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  if (parameters != nullptr && parameters->structSize < offsetof(CUpti_SubscriberParams, allowMultipleSubscribers)) {
    return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  const bool is_shared = parameters != nullptr && asks_for_several(*parameters);
  if (is_shared && (cupti_version() < kMultipleVersion || cupti_switches()[CuptiSwitch::kMultiple] == 0)) {
    return refuse(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
  }
  std::string name = "CUPTI for ";
  if (parameters != nullptr && parameters->subscriberName != nullptr) {
    name += std::string(parameters->subscriberName).substr(0, CUPTI_SUBSCRIBER_NAME_MAX_LEN);
  }
  // without the request for several this is V1 with names
  Client* const client = is_shared ? Tool::get().add_client() : &Tool::get().first();
  std::string holder;
  const CUptiResult result = subscribe(client, callback, userdata, name, is_shared, &holder);
  if (cupti_version() >= kNamesVersion && parameters != nullptr && parameters->oldSubscriberName != nullptr &&
      parameters->oldSubscriberSize > 0 && !holder.empty()) {
    std::strncpy(parameters->oldSubscriberName, holder.c_str(), parameters->oldSubscriberSize - 1);
    parameters->oldSubscriberName[parameters->oldSubscriberSize - 1] = '\0';
  }
  if (result == CUPTI_SUCCESS) *subscriber = Tool::handle(client);
  return result;
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  Client* client = nullptr;
  if (const CUptiResult result = may_run_v2("cuptiUnsubscribe", subscriber, &client); result != CUPTI_SUCCESS) {
    return result;
  }
  need_descriptors("cuptiUnsubscribe");
  client->unsubscribe();
  Tool::get().driver()->leave_slot(client->is_shared);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                CUpti_CallbackId cbid) {
  Client* client = nullptr;
  if (const CUptiResult result = may_run_v2("cuptiEnableCallback", subscriber, &client); result != CUPTI_SUCCESS) {
    return result;
  }
  if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  client->enable_callback(domain, cbid, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(uint32_t enable, CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain) {
  Client* client = nullptr;
  if (const CUptiResult result = may_run_v2("cuptiEnableDomain", subscriber, &client); result != CUPTI_SUCCESS) {
    return result;
  }
  if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE) {
    return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  client->enable_domain(domain, enable != 0);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetEnabledCallbacks(CUpti_SubscriberHandle subscriber, CUpti_CallbackDomain domain,
                                     CUpti_CallbackId* buffer, uint32_t* capacity, uint32_t* count) {
  Client* client = nullptr;
  const CUptiResult result = may_run_v2("cuptiGetEnabledCallbacks", subscriber, &client);
  if (result != CUPTI_SUCCESS) return result;
  *count = 0;
  for (CUpti_CallbackId cbid = 0; cbid < kCbidLimit; ++cbid) {
    if (!client->wants(domain, cbid)) continue;
    if (buffer != nullptr && *count < *capacity) buffer[*count] = cbid;
    ++*count;
  }
  return CUPTI_SUCCESS;
}

}  // extern "C"
