// Contexts: made, retained as a device's primary one, and current to a thread.

#include <cuda.h>
#include <cupti.h>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/engine.h"

using namespace jaxprof::fake_cuda;

namespace {

bool is_device(CUdevice device) {
  return device >= 0 && device < Engine::get().device_count();
}

CUresult make_current(CUcontext* context, CUdevice device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = Engine::get().make_context(static_cast<std::uint32_t>(device), false);
  Engine::get().context_stack().push_back(*context);
  return CUDA_SUCCESS;
}

CUresult replace_current(CUcontext context) {
  auto& stack = Engine::get().context_stack();
  if (!stack.empty()) stack.pop_back();
  if (context != nullptr) stack.push_back(context);
  return CUDA_SUCCESS;
}

// Waits as cuCtxSynchronize does, and tells the tools.
CUresult synchronize(CUcontext context) {
  Engine& engine = Engine::get();
  SyncEvent event;
  event.kind = SyncKind::kContext;
  event.context = context;
  event.device = context->device;
  event.context_id = context->id;
  event.stream_id = UINT32_MAX;  // CUPTI_SYNCHRONIZATION_INVALID_VALUE
  event.event_id = UINT32_MAX;
  event.begin_gpu_ns = engine.now_gpu_ns();
  engine.synchronize(context);
  event.end_gpu_ns = engine.now_gpu_ns();
  engine.tell(event);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  return FAKE_CUDA_TRACED(cuDevicePrimaryCtxRetain, nullptr, ({context, device}), [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    Engine& engine = Engine::get();
    const auto number = static_cast<std::uint32_t>(device);
    *context = engine.primary(number);
    if (*context == nullptr) {
      *context = engine.make_context(number, true);
    } else {
      ++(*context)->uses;
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return FAKE_CUDA_TRACED(cuDevicePrimaryCtxRelease_v2, nullptr, {device}, [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    CUcontext const context = Engine::get().primary(static_cast<std::uint32_t>(device));
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    if (--context->uses == 0) Engine::get().retire_context(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* is_active) {
  return FAKE_CUDA_TRACED(cuDevicePrimaryCtxGetState, nullptr, ({device, flags, is_active}), [&] {
    if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
    *flags = 0;
    *is_active = Engine::get().primary(static_cast<std::uint32_t>(device)) == nullptr ? 0 : 1;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxCreate_v2(CUcontext* context, unsigned flags, CUdevice device) {
  return FAKE_CUDA_TRACED(cuCtxCreate_v2, nullptr, ({context, flags, device}),
                          [&] { return make_current(context, device); });
}

CUresult cuCtxCreate_v4(CUcontext* context, CUctxCreateParams* how, unsigned flags, CUdevice device) {
  return FAKE_CUDA_TRACED(cuCtxCreate_v4, nullptr, ({context, how, flags, device}),
                          [&] { return make_current(context, device); });
}

CUresult cuCtxDestroy_v2(CUcontext context) {
  return FAKE_CUDA_TRACED(cuCtxDestroy_v2, nullptr, {context}, [&] {
    if (context == nullptr || !context->is_alive) return CUDA_ERROR_INVALID_CONTEXT;
    Engine& engine = Engine::get();
    engine.retire_context(context);
    if (engine.current() == context) engine.context_stack().pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return FAKE_CUDA_TRACED(cuCtxSetCurrent, nullptr, {context}, [&] { return replace_current(context); });
}

CUresult cuCtxGetCurrent(CUcontext* context) {
  return FAKE_CUDA_TRACED(cuCtxGetCurrent, nullptr, {context}, [&] {
    *context = Engine::get().current();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  return FAKE_CUDA_TRACED(cuCtxPushCurrent_v2, nullptr, {context}, [&] {
    Engine::get().context_stack().push_back(context);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  return FAKE_CUDA_TRACED(cuCtxPopCurrent_v2, nullptr, {context}, [&] {
    auto& stack = Engine::get().context_stack();
    if (stack.empty()) return CUDA_ERROR_INVALID_CONTEXT;
    if (context != nullptr) *context = stack.back();
    stack.pop_back();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice* device) {
  return FAKE_CUDA_TRACED(cuCtxGetDevice, nullptr, {device}, [&] {
    CUcontext const context = Engine::get().current();
    if (context == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *device = static_cast<CUdevice>(context->device);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize(void) {
  if (const CUresult result = readiness(); result != CUDA_SUCCESS) return result;
  note_call("cuCtxSynchronize");
  enter_call(CUPTI_DRIVER_TRACE_CBID_cuCtxSynchronize, "cuCtxSynchronize", nullptr, nullptr);
  CUcontext const context = Engine::get().current();
  return leave_call(context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : synchronize(context));
}

}  // extern "C"
