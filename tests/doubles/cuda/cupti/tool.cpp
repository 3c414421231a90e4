#include "tests/doubles/cuda/cupti/tool.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstring>
#include <string_view>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/misuse.h"
#include "tests/doubles/cuda/cupti/worker.h"

namespace jaxprof::fake_cuda {
namespace {

struct ExternalId {
  Client* client;
  CUpti_ExternalCorrelationKind kind;
  std::uint64_t id;
};
thread_local std::vector<ExternalId>* thread_ids = nullptr;

std::vector<ExternalId>& external_ids() {
  if (thread_ids == nullptr) thread_ids = new std::vector<ExternalId>;
  return *thread_ids;
}

CUpti_CallbackDomain domain_of(const ApiEvent& call) {
  return call.is_runtime ? CUPTI_CB_DOMAIN_RUNTIME_API : CUPTI_CB_DOMAIN_DRIVER_API;
}

}  // namespace

Tool& Tool::get() {
  static auto* const tool = new Tool;
  return *tool;
}

Tool::Tool() {
  clients_[0] = new Client(false);
  client_count_ = 1;
}

Driver* Tool::driver() {
  if (Driver* const known = driver_; known != nullptr) return known;
  void* const library = dlopen("libcuda.so.1", RTLD_LAZY);
  if (library == nullptr) return nullptr;
  const auto find_driver = reinterpret_cast<Driver* (*)()>(dlsym(library, "fake_cuda_driver"));
  if (find_driver == nullptr) return nullptr;
  const std::lock_guard lock(mutex_);
  if (driver_ == nullptr) {
    Driver* const driver = find_driver();
    if (driver->attach(this) < 0) return nullptr;
    driver_ = driver;
  }
  return driver_;
}

Client* Tool::add_client() {
  const std::lock_guard lock(mutex_);
  const int count = client_count_;
  if (count == kMaxClients) return nullptr;
  clients_[count] = new Client(true);
  client_count_.store(count + 1, std::memory_order_release);
  return clients_[count];
}

Client* Tool::find(CUpti_SubscriberHandle handle) {
  const int count = client_count_.load(std::memory_order_acquire);
  const auto* const place = std::find(clients_, clients_ + count, reinterpret_cast<Client*>(handle));
  return place == clients_ + count || !(*place)->is_subscribed ? nullptr : *place;
}

bool Tool::has_v2_subscriber() {
  const int count = client_count_.load(std::memory_order_acquire);
  return std::any_of(clients_, clients_ + count,
                     [](const Client* client) { return client->is_v2 && client->is_shared && client->is_subscribed; });
}

bool Tool::has_buffers() {
  const int count = client_count_.load(std::memory_order_acquire);
  return std::any_of(clients_, clients_ + count, [](Client* client) { return client->buffers.has_callbacks(); });
}

void Tool::give_back_full() {
  each_client([](Client& client) { client.buffers.give_back_full(); });
}

void Tool::flush(bool is_forced) {
  each_client([is_forced](Client& client) { client.buffers.flush(is_forced); });
}

void Tool::finalize() {
  flush(true);
  Driver* const watched = driver();
  each_client([watched](Client& client) {
    for (const CUpti_ActivityKind kind : client.enabled_kinds()) client.set_kind(kind, false);
    if (!client.is_subscribed) return;
    client.unsubscribe();
    if (watched != nullptr) watched->leave_slot(client.is_shared);
  });
}

// ---- calls

void Tool::call_back(int index, ApiEvent& call, CUpti_ApiCallbackSite site) {
  CUpti_CallbackData about{};
  about.callbackSite = site;
  about.functionName = call.name;
  about.functionParams = call.parameters;
  about.functionReturnValue = site == CUPTI_API_EXIT ? &call.result : nullptr;
  about.symbolName = call.symbol;
  about.context = call.context;
  about.contextUid = call.context_id;
  about.correlationData = &call.correlation_data[index];
  about.correlationId = call.correlation;
  each_client([&](Client& client) {
    if (client.wants(domain_of(call), call.cbid)) client.call_back(domain_of(call), call.cbid, &about);
  });
}

void Tool::enter(int index, ApiEvent& call) {
  call_back(index, call, CUPTI_API_ENTER);
}

void Tool::leave(int index, ApiEvent& call) {
  if (!is_broken_) {
    each_client([&call](Client& client) {
      if (!client.records_api(call.is_runtime, call.cbid)) return;
      if (client.records(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION)) {
        // the innermost id of each kind
        const auto& ids = external_ids();
        for (auto id = ids.rbegin(); id != ids.rend(); ++id) {
          const bool is_hidden = std::any_of(ids.rbegin(), id, [&id](const ExternalId& inner) {
            return inner.client == id->client && inner.kind == id->kind;
          });
          if (id->client != &client || is_hidden) continue;
          client.buffers.append(external_record(id->kind, id->id, call.correlation), true);
          ++counts().external_ids;
        }
      }
      client.buffers.append(api_record(call, client.thread_id()), true);
    });
  }
  call_back(index, call, CUPTI_API_EXIT);
}

void Tool::called(const char* name) {
  const CallbackKind running = running_callback();
  if (running == CallbackKind::kNone) return;
  const bool is_wait = std::string_view(name).find("Synchronize") != std::string_view::npos;
  if (running == CallbackKind::kApi && is_wait) return;
  violation(counts().cuda_in_callback, "cuda_in_callback", name);
}

void Tool::push_external(Client* client, CUpti_ExternalCorrelationKind kind, std::uint64_t id) {
  ++counts().correlation_pushes;
  external_ids().push_back({client, kind, id});
}

bool Tool::pop_external(Client* client, CUpti_ExternalCorrelationKind kind, std::uint64_t* id) {
  auto& ids = external_ids();
  const auto last = std::find_if(ids.rbegin(), ids.rend(),
                                 [&](const ExternalId& one) { return one.client == client && one.kind == kind; });
  if (last == ids.rend()) return false;
  if (id != nullptr) *id = last->id;
  ids.erase(std::next(last).base());
  return true;
}

// ---- operations

void Tool::submitted(Operation& operation) {
  if (is_broken_) return;
  const CUpti_ActivityKind kind = kind_of(operation);
  const bool is_late = cupti_switches()[CuptiSwitch::kLateRecords] != 0;
  // a graph that is recorded as one has no records of its nodes
  if (operation.graph_run && operation.graph_run->is_traced_whole != (operation.kind == kFakeCudaGraph)) return;
  each_client([&](Client& client) {
    if (!client.records(kind) &&
        !(kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL && client.records(CUPTI_ACTIVITY_KIND_KERNEL))) {
      return;
    }
    auto token = std::make_unique<ClientToken>(&client);
    token->kind = kind;
    token->correlation = client.has_correlation() ? operation.correlation : 0;
    token->is_late = is_late;
    if (!is_late) {
      token->slot = client.buffers.append(operation_record(operation, kind, false, token->correlation), false);
    }
    operation.tokens.push_back(std::move(token));
  });
}

void Tool::completed(Operation& operation) {
  be_worker();
  for (const auto& one : operation.tokens) {
    auto* const token = dynamic_cast<ClientToken*>(one.get());
    if (token == nullptr || is_broken_) continue;
    const int count = client_count_.load(std::memory_order_acquire);
    // another library's CUPTI has tokens here too
    if (std::find(clients_, clients_ + count, token->client) == clients_ + count) continue;
    token->client->finish(*token, operation);
    const std::uint64_t number = ++device_records_;
    const auto unknown = static_cast<std::uint64_t>(cupti_switches()[CuptiSwitch::kUnknownEvery]);
    if (unknown != 0 && number % unknown == 0) token->client->buffers.append(invented_record(), true);
    const auto fatal = static_cast<std::uint64_t>(cupti_switches()[CuptiSwitch::kFatalAfter]);
    if (fatal != 0 && number == fatal) fail_for_good();
  }
}

void Tool::fail_for_good() {
  CUpti_StateData about{};
  about.notification.result = CUPTI_ERROR_HARDWARE;
  about.notification.message = "the fake CUPTI was told to fail";
  each_client([&about](Client& client) {
    if (client.wants(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR)) {
      client.call_back(CUPTI_CB_DOMAIN_STATE, CUPTI_CBID_STATE_FATAL_ERROR, &about);
    }
  });
  is_broken_ = true;
}

// ---- objects

void Tool::resource(const ResourceEvent& event) {
  CUpti_ModuleResourceData module{};
  CUpti_GraphData graph{};
  CUpti_ResourceData about{};
  about.context = event.context;
  about.resourceHandle.stream = event.stream;
  if (event.module_id != 0) {
    module.moduleId = event.module_id;
    about.resourceDescriptor = &module;
  } else if (event.graph != nullptr || event.graph_exec != nullptr) {
    graph.graph = event.graph;
    graph.originalGraph = event.source_graph;
    graph.node = event.node;
    graph.originalNode = event.source_node;
    graph.nodeType = event.node_type;
    graph.graphExec = event.graph_exec;
    about.resourceDescriptor = &graph;
  }
  each_client([&](Client& client) {
    if (event.cbid == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) dump(client, CUPTI_ACTIVITY_KIND_DEVICE);
    if (event.cbid == CUPTI_CBID_RESOURCE_CONTEXT_CREATED) dump(client, CUPTI_ACTIVITY_KIND_CONTEXT, event.context);
    if (event.cbid == CUPTI_CBID_RESOURCE_STREAM_CREATED) dump(client, CUPTI_ACTIVITY_KIND_STREAM, event.stream);
    if (client.wants(CUPTI_CB_DOMAIN_RESOURCE, event.cbid)) {
      client.call_back(CUPTI_CB_DOMAIN_RESOURCE, event.cbid, &about);
    }
  });
}

void Tool::dump(Client& client, CUpti_ActivityKind kind, const void* only) {
  Driver* const watched = driver_;
  if (watched == nullptr || !client.records(kind) || !client.buffers.has_callbacks()) return;
  if (kind == CUPTI_ACTIVITY_KIND_DEVICE) {
    for (const auto& device : watched->devices()) client.buffers.append(device_record(device), true);
  } else if (kind == CUPTI_ACTIVITY_KIND_CONTEXT) {
    for (const auto& context : watched->contexts()) {
      if (only == nullptr || only == context.handle) client.buffers.append(context_record(context), true);
    }
  } else if (kind == CUPTI_ACTIVITY_KIND_STREAM) {
    for (const auto& stream : watched->streams()) {
      if (only == nullptr || only == stream.handle) client.buffers.append(stream_record(stream), true);
    }
  }
}

void Tool::synchronized(const SyncEvent& event) {
  if (is_broken_) return;
  each_client([&event](Client& client) {
    if (client.records(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION)) client.buffers.append(sync_record(event), true);
  });
}

void Tool::event_recorded(const EventMark& mark) {
  if (is_broken_) return;
  each_client([&mark](Client& client) {
    if (client.records(CUPTI_ACTIVITY_KIND_CUDA_EVENT)) client.buffers.append(event_record(mark), true);
  });
}

bool Tool::traces_graphs() {
  bool is_traced = false;
  each_client([&is_traced](const Client& client) { is_traced |= client.records(CUPTI_ACTIVITY_KIND_GRAPH_TRACE); });
  return is_traced;
}

}  // namespace jaxprof::fake_cuda
