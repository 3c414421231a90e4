// Streams, without their capture.

#include <cuda.h>
#include <cupti.h>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/engine.h"

using namespace jaxprof::fake_cuda;

namespace {

CUresult make_stream(CUstream* stream, unsigned flags, int priority) {
  CUcontext const context = Engine::get().current();
  if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  *stream = Engine::get().make_stream(context, flags, priority);
  return CUDA_SUCCESS;
}

CUresult synchronize(CUstream handle) {
  Engine& engine = Engine::get();
  CUstream const stream = engine.resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  if (stream->capture) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  SyncEvent event;
  event.kind = SyncKind::kStream;
  event.context = stream->context;
  event.stream = stream;
  event.device = stream->context->device;
  event.context_id = stream->context->id;
  event.stream_id = stream->id;
  event.event_id = UINT32_MAX;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE
  event.begin_gpu_ns = engine.now_gpu_ns();
  stream->queue.synchronize();
  event.end_gpu_ns = engine.now_gpu_ns();
  engine.tell(event);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return FAKE_CUDA_TRACED(cuStreamCreate, nullptr, ({stream, flags}), [&] { return make_stream(stream, flags, 0); });
}

CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return FAKE_CUDA_TRACED(cuStreamCreateWithPriority, nullptr, ({stream, flags, priority}),
                          [&] { return make_stream(stream, flags, priority); });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return FAKE_CUDA_TRACED(cuStreamDestroy_v2, nullptr, {stream}, [&] {
    if (stream == nullptr || !stream->is_alive) return CUDA_ERROR_INVALID_HANDLE;
    Engine::get().retire_stream(stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream stream) {
  return FAKE_CUDA_TRACED(cuStreamSynchronize, nullptr, {stream}, [&] { return synchronize(stream); });
}

CUresult cuStreamQuery(CUstream stream) {
  return FAKE_CUDA_TRACED(cuStreamQuery, nullptr, {stream}, [&] {
    CUstream const real = Engine::get().resolve(stream);
    if (real == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    return real->queue.is_idle() ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamGetCtx(CUstream stream, CUcontext* context) {
  return FAKE_CUDA_TRACED(cuStreamGetCtx, nullptr, ({stream, context}), [&] {
    CUstream const real = Engine::get().resolve(stream);
    if (real == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *context = real->context;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
