#include "tests/doubles/cuda/driver/engine.h"

#include <cupti.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/graph_nodes.h"

namespace jaxprof::fake_cuda {
namespace {

thread_local std::vector<CUcontext>* thread_contexts = nullptr;

}  // namespace

Engine& Engine::get() {
  static auto* const engine = new Engine;
  return *engine;
}

Engine::Engine()
    : delivery(deliver), process_(getpid()), device_count_(static_cast<int>(switches()[Switch::kDevices])) {}

bool Engine::is_own_process() const {
  return getpid() == process_;
}

// ---- objects

CUcontext Engine::make_context(std::uint32_t device, bool is_primary) {
  auto* const context = new CUctx_st;
  {
    const std::lock_guard lock(mutex_);
    context->id = ++context_count_;
    context->device = device;
    context->is_primary = is_primary;
    context->null_stream = new CUstream_st(++stream_count_, context, ended);
    contexts_.push_back(context);
    streams_.push_back(context->null_stream);
  }
  tell(ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_CONTEXT_CREATED, .context = context});
  tell(ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_STREAM_CREATED, .context = context, .stream = context->null_stream});
  return context;
}

CUcontext Engine::primary(std::uint32_t device) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(contexts_.begin(), contexts_.end(), [device](CUcontext context) {
    return context->is_primary && context->is_alive && context->device == device;
  });
  return found == contexts_.end() ? nullptr : *found;
}

void Engine::retire_context(CUcontext context) {
  synchronize(context);
  tell(ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_CONTEXT_DESTROY_STARTING, .context = context});
  context->is_alive = false;
}

CUstream Engine::make_stream(CUcontext context, unsigned flags, int priority) {
  CUstream stream = nullptr;
  {
    const std::lock_guard lock(mutex_);
    stream = new CUstream_st(++stream_count_, context, ended);
    stream->flags = flags;
    stream->priority = priority;
    streams_.push_back(stream);
  }
  tell(ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_STREAM_CREATED, .context = context, .stream = stream});
  return stream;
}

void Engine::retire_stream(CUstream stream) {
  tell(
      ResourceEvent{.cbid = CUPTI_CBID_RESOURCE_STREAM_DESTROY_STARTING, .context = stream->context, .stream = stream});
  stream->is_alive = false;
}

void Engine::synchronize(CUcontext context) {
  std::vector<CUstream> all;
  {
    const std::lock_guard lock(mutex_);
    std::copy_if(streams_.begin(), streams_.end(), std::back_inserter(all),
                 [context](CUstream stream) { return stream->context == context; });
  }
  for (CUstream stream : all) stream->queue.synchronize();
}

// ---- the calling thread

std::vector<CUcontext>& Engine::context_stack() const {
  if (thread_contexts == nullptr) thread_contexts = new std::vector<CUcontext>;
  return *thread_contexts;
}

CUcontext Engine::current() const {
  const auto& stack = context_stack();
  return stack.empty() ? nullptr : stack.back();
}

CUstream Engine::resolve(CUstream stream) const {
  if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD) return stream;
  CUcontext const context = current();
  return context == nullptr ? nullptr : context->null_stream;
}

// ---- operations

void Engine::submit(CUstream stream, OperationPtr operation) {
  if (stream->capture) {
    capture(stream, std::move(operation));
    return;
  }
  operation->device = stream->context->device;
  operation->context = stream->context->id;
  operation->stream = stream->id;
  operation->priority = stream->priority;
  operation->correlation = calling_correlation();
  operation->submitted_raw_ns = raw_now_ns();
  if (operation->is_visible) {
    each_observer([&operation](int, Observer& observer) { observer.submitted(*operation); });
  }
  stream->queue.add(std::move(operation));
}

void Engine::ended(OperationPtr operation) {
  if (!operation->is_visible) return;
  Engine& engine = get();
  operation->begin_gpu_ns = engine.clock.of_raw(operation->begin_raw_ns);
  operation->end_gpu_ns = operation->begin_gpu_ns + (operation->end_raw_ns - operation->begin_raw_ns);
  if (auto* const truth = engine.truth.load()) {
    const FakeCudaOperation told{operation->kind,
                                 operation->name,
                                 operation->device,
                                 operation->context,
                                 operation->stream,
                                 operation->correlation,
                                 operation->graph_run ? operation->graph_run->graph : 0,
                                 operation->graph_node,
                                 operation->bytes,
                                 operation->begin_raw_ns,
                                 operation->end_raw_ns};
    truth(&told, engine.truth_data.load());
  }
  engine.delivery.add(std::move(operation));
}

void Engine::deliver(Operation& operation) {
  get().each_observer([&operation](int, Observer& observer) { observer.completed(operation); });
}

// ---- tools

int Engine::attach(Observer* observer) {
  const std::lock_guard lock(mutex_);
  const int index = observer_count_;
  if (index == kMaxObservers) return -1;
  observers_[index] = observer;
  observer_count_.store(index + 1, std::memory_order_release);
  return index;
}

void Engine::tell(const ResourceEvent& event) {
  each_observer([&event](int, Observer& observer) { observer.resource(event); });
}

void Engine::tell(SyncEvent event) {
  event.correlation = calling_correlation();
  each_observer([&event](int, Observer& observer) { observer.synchronized(event); });
}

void Engine::tell(const EventMark& mark) {
  each_observer([&mark](int, Observer& observer) { observer.event_recorded(mark); });
}

bool Engine::take_slot(const std::string& name, bool is_shared, std::string* holder) {
  const std::lock_guard lock(mutex_);
  if (switches()[Switch::kSlotHeld] != 0) {
    *holder = "cuda-gdb";
    return false;
  }
  if (!slot_.empty()) {
    *holder = slot_.front();
    if (!is_shared || !is_slot_shared_) return false;
  }
  is_slot_shared_ = is_shared;
  slot_.push_back(name);
  return true;
}

void Engine::leave_slot(bool is_shared) {
  const std::lock_guard lock(mutex_);
  if (!slot_.empty() && is_shared == is_slot_shared_) slot_.pop_back();
}

// ---- facts

std::vector<DeviceFacts> Engine::devices() {
  std::vector<DeviceFacts> facts;
  for (int i = 0; i < device_count_; ++i) {
    const auto device = static_cast<std::uint32_t>(i);
    facts.push_back({device, device_name(device), device_uuid(device)});
  }
  return facts;
}

std::vector<ContextFacts> Engine::contexts() {
  const std::lock_guard lock(mutex_);
  std::vector<ContextFacts> facts;
  for (CUcontext context : contexts_) {
    if (context->is_alive) facts.push_back({context, context->id, context->device, context->null_stream->id});
  }
  return facts;
}

std::vector<StreamFacts> Engine::streams() {
  const std::lock_guard lock(mutex_);
  std::vector<StreamFacts> facts;
  for (CUstream stream : streams_) {
    if (!stream->is_alive) continue;
    facts.push_back({stream, stream->id, stream->context->id, stream->priority, stream->flags == 0});
  }
  return facts;
}

std::uint32_t Engine::stream_id(CUcontext context, CUstream stream) {
  if (stream != nullptr && stream != CU_STREAM_LEGACY && stream != CU_STREAM_PER_THREAD) return stream->id;
  if (context == nullptr) context = current();
  return context == nullptr ? 0 : context->null_stream->id;
}

}  // namespace jaxprof::fake_cuda

extern "C" jaxprof::fake_cuda::Driver* fake_cuda_driver() {
  return &jaxprof::fake_cuda::Engine::get();
}
