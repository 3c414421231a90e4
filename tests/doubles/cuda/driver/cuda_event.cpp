// Events: marks in a stream, waits for them by the host and by other streams. A capture follows a wait from one stream
// to the next, as the real one does, so that work on several streams becomes one graph.

#include <cuda.h>
#include <cupti.h>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/engine.h"

using namespace jaxprof::fake_cuda;

namespace {

// Something a stream does that no profiler sees.
OperationPtr hidden(std::function<void()> act) {
  auto operation = std::make_unique<Operation>();
  operation->is_visible = false;
  operation->act = std::move(act);
  return operation;
}

CUresult record(CUevent event, CUstream handle) {
  Engine& engine = Engine::get();
  CUstream const stream = engine.resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (stream->capture) {
    const std::lock_guard lock(event->mutex);
    event->capture = stream->capture;
    event->captured_node = stream->last_captured;
    return CUDA_SUCCESS;
  }
  auto mark = std::make_shared<FakeEventMark>();
  {
    const std::lock_guard lock(event->mutex);
    event->mark = mark;
    event->stream = stream;
    event->capture = nullptr;
  }
  engine.submit(stream, hidden([mark] {
                  const std::lock_guard lock(mark->mutex);
                  mark->is_reached = true;
                  mark->raw_ns = raw_now_ns();
                  mark->changed.notify_all();
                }));
  engine.tell(EventMark{stream->context->device, stream->context->id, stream->id, event->id, calling_correlation()});
  return CUDA_SUCCESS;
}

std::shared_ptr<FakeEventMark> mark_of(CUevent event) {
  const std::lock_guard lock(event->mutex);
  return event->mark;
}

void wait_for(FakeEventMark& mark) {
  std::unique_lock lock(mark.mutex);
  mark.changed.wait(lock, [&mark] { return mark.is_reached; });
}

SyncEvent wait_event(SyncKind kind, CUevent event, CUstream stream) {
  SyncEvent told;
  told.kind = kind;
  told.event_id = event->id;
  told.stream_id = UINT32_MAX;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE
  if (stream != nullptr) {
    told.context = stream->context;
    told.stream = stream;
    told.device = stream->context->device;
    told.context_id = stream->context->id;
    told.stream_id = stream->id;
  }
  told.begin_gpu_ns = Engine::get().now_gpu_ns();
  return told;
}

CUresult stream_wait(CUstream handle, CUevent event) {
  Engine& engine = Engine::get();
  CUstream const stream = engine.resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  SyncEvent told = wait_event(SyncKind::kStreamWaitEvent, event, stream);
  std::shared_ptr<FakeEventMark> mark;
  {
    const std::lock_guard lock(event->mutex);
    if (event->capture) {  // the stream joins the capture
      stream->capture = event->capture;
      stream->last_captured = event->captured_node;
      return CUDA_SUCCESS;
    }
    mark = event->mark;
  }
  if (mark) engine.submit(stream, hidden([mark] { wait_for(*mark); }));
  told.end_gpu_ns = engine.now_gpu_ns();
  engine.tell(told);
  return CUDA_SUCCESS;
}

CUresult event_wait(CUevent event) {
  const auto mark = mark_of(event);
  if (!mark) return CUDA_SUCCESS;
  SyncEvent told = wait_event(SyncKind::kEvent, event, event->stream);
  wait_for(*mark);
  told.end_gpu_ns = Engine::get().now_gpu_ns();
  Engine::get().tell(told);
  return CUDA_SUCCESS;
}

CUresult elapsed(float* milliseconds, CUevent begin, CUevent end) {
  const auto first = mark_of(begin);
  const auto last = mark_of(end);
  if (!first || !last) return CUDA_ERROR_INVALID_HANDLE;
  const std::scoped_lock lock(first->mutex, last->mutex);
  if (!first->is_reached || !last->is_reached) return CUDA_ERROR_NOT_READY;
  *milliseconds = static_cast<float>(last->raw_ns - first->raw_ns) / 1e6F;
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return FAKE_CUDA_TRACED(cuEventCreate, nullptr, ({event, flags}), [&] {
    *event = new CUevent_st;
    (*event)->id = Engine::get().next_event();
    return CUDA_SUCCESS;
  });
}

// The object stays: a stream may still wait for it.
CUresult cuEventDestroy_v2(CUevent event) {
  return FAKE_CUDA_TRACED(cuEventDestroy_v2, nullptr, {event}, [&] { return CUDA_SUCCESS; });
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  return FAKE_CUDA_TRACED(cuEventRecord, nullptr, ({event, stream}), [&] { return record(event, stream); });
}

CUresult cuEventSynchronize(CUevent event) {
  return FAKE_CUDA_TRACED(cuEventSynchronize, nullptr, {event}, [&] { return event_wait(event); });
}

CUresult cuEventQuery(CUevent event) {
  return FAKE_CUDA_TRACED(cuEventQuery, nullptr, {event}, [&] {
    const auto mark = mark_of(event);
    if (!mark) return CUDA_SUCCESS;
    const std::lock_guard lock(mark->mutex);
    return mark->is_reached ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventElapsedTime_v2(float* milliseconds, CUevent begin, CUevent end) {
  return FAKE_CUDA_TRACED(cuEventElapsedTime_v2, nullptr, ({milliseconds, begin, end}),
                          [&] { return elapsed(milliseconds, begin, end); });
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return FAKE_CUDA_TRACED(cuStreamWaitEvent, nullptr, ({stream, event, flags}),
                          [&] { return stream_wait(stream, event); });
}

}  // extern "C"
