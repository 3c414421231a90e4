#include "agent/cupti/handlers.h"

#include <sys/syscall.h>
#include <unistd.h>

#include "agent/collect/event_sink.h"
#include "agent/cupti/collector.h"
#include "agent/cupti/flusher.h"
#include "agent/cupti/gpu_clock.h"
#include "agent/cupti/resources.h"
#include "agent/cupti/status.h"

namespace jaxprof::cupti {
namespace {

void request_buffer(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records) {
  *buffer = collector.pool.take(bytes);
  if (*buffer != nullptr) note_buffer_held();
  *max_records = 0;  // as many as fit
  if (collector.pool.is_scarce()) ask_for_flush();
}

void complete_buffer(std::uint8_t* buffer, std::size_t valid_bytes) noexcept {
  // Of a forked child: it writes to the parent's pages no more, and nobody reads its own.
  if (collector.is_forked.load(std::memory_order_relaxed)) return;
  // It was counted as lost, and is not: it will be noted as done like any other.
  if (collector.pool.take_back_written_off()) note_buffer_held();
  switch (collector.pool.give(buffer, valid_bytes)) {
    case BufferPool::Returned::kToRead:
      collect::wake_for_activities();
      break;
    case BufferPool::Returned::kDiscarded:
      collect::count_drop(Drop::kGpuBuffersFull, collector.strides.count(buffer, valid_bytes));
      collector.pool.release_discarded(buffer, valid_bytes);
      note_buffer_done();
      break;
    case BufferPool::Returned::kEmpty:
      note_buffer_done();
      break;
    case BufferPool::Returned::kForeign:
      break;
  }
}

void complete_alone(abi::Context, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid_bytes) {
  complete_buffer(buffer, valid_bytes);
}
void request_shared(std::uint8_t** buffer, std::size_t* bytes, std::size_t* max_records, void*) {
  request_buffer(buffer, bytes, max_records);
}
void complete_shared(std::uint8_t* buffer, std::size_t, std::size_t valid_bytes, void*) {
  complete_buffer(buffer, valid_bytes);
}

void on_profiler_call(abi::CallbackId id, const abi::ApiCallback& call) noexcept {
  // Nothing before the start has returned is in the window, and nothing after the stop was called.
  if (id == abi::kProfilerStart && call.site == abi::kApiExit) collect::profiler_started();
  if (id == abi::kProfilerStop && call.site == abi::kApiEnter) collect::profiler_stopped();
}

void on_state(abi::CallbackId id, const abi::StateData& state) noexcept {
  // CUPTI has finalised itself; to call it now would start it again.
  if (id != abi::kFatalError || collector.is_dead.exchange(true, std::memory_order_acq_rel)) return;
  tell_end_of_cupti(state.message);
  wake_flusher();
}

}  // namespace

const BufferCallbacks kBufferCallbacks{request_buffer, complete_alone, request_shared, complete_shared};

void on_callback(void*, abi::Domain domain, abi::CallbackId id, const void* data) noexcept {
  if (data == nullptr || collector.is_dead.load(std::memory_order_relaxed)) return;
  switch (domain) {
    case abi::kDriverApi:
      on_profiler_call(id, *static_cast<const abi::ApiCallback*>(data));
      break;
    case abi::kResource:
      if (id == abi::kModuleUnloadStarting) {
        collector.encoder.kernel_names().note_unload(read_gpu_clock(&collector.subscriber), &collector.pool,
                                                     collector.strides);
      } else {
        if (id == abi::kGraphNodeCreated) {
          collector.encoder.captured_calls().note_node(static_cast<std::uint32_t>(syscall(SYS_gettid)),
                                                       read_gpu_clock(&collector.subscriber));
        }
        register_resource(collector.library.functions, id, *static_cast<const abi::ResourceData*>(data),
                          &collector.nccl_nodes);
      }
      break;
    case abi::kState:
      on_state(id, *static_cast<const abi::StateData*>(data));
      break;
    case abi::kRuntimeApi:
      break;
  }
}

void watch_resources(Subscriber* subscriber) noexcept {
  for (const abi::ResourceCallback id : {abi::kContextCreated, abi::kStreamCreated, abi::kModuleUnloadStarting,
                                         abi::kGraphNodeCreated, abi::kGraphNodeCloned}) {
    subscriber->enable_callback(abi::kResource, id, true);
  }
  subscriber->enable_callback(abi::kState, abi::kFatalError, true);
}

void watch_profiler(Subscriber* subscriber) noexcept {
  subscriber->enable_callback(abi::kDriverApi, abi::kProfilerStart, true);
  subscriber->enable_callback(abi::kDriverApi, abi::kProfilerStop, true);
}

}  // namespace jaxprof::cupti
