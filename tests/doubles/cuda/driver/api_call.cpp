#include "tests/doubles/cuda/driver/api_call.h"

#include <vector>

#include "tests/doubles/cuda/driver/engine.h"

namespace jaxprof::fake_cuda {
namespace {

struct ThreadCalls {
  std::vector<ApiEvent> open;
  std::uint32_t latest = 0;
};
thread_local ThreadCalls* thread_calls = nullptr;  // leaked: callbacks may come while the thread ends

ThreadCalls& calls() {
  if (thread_calls == nullptr) thread_calls = new ThreadCalls;
  return *thread_calls;
}

void begin(ApiEvent call) {
  Engine& engine = Engine::get();
  ThreadCalls& mine = calls();
  // a driver call inside a runtime call has the runtime call's id
  call.correlation = mine.open.empty() ? engine.next_correlation() : mine.open.back().correlation;
  call.context = engine.current();
  call.context_id = call.context == nullptr ? 0 : call.context->id;
  call.begin_gpu_ns = engine.now_gpu_ns();
  mine.latest = call.correlation;
  engine.each_observer([&call](int index, Observer& observer) { observer.enter(index, call); });
  mine.open.push_back(call);
}

void end(CUresult result) {
  Engine& engine = Engine::get();
  ApiEvent call = calls().open.back();
  call.result = result;
  call.end_gpu_ns = engine.now_gpu_ns();
  engine.each_observer([&call](int index, Observer& observer) { observer.leave(index, call); });
  calls().open.pop_back();
}

}  // namespace

std::uint32_t calling_correlation() {
  return calls().latest;
}

void note_call(const char* name) {
  Engine::get().each_observer([name](int, Observer& observer) { observer.called(name); });
}

CUresult readiness() {
  const Engine& engine = Engine::get();
  if (!engine.is_own_process()) return CUDA_ERROR_NOT_INITIALIZED;
  return engine.is_ready ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

void enter_call(std::uint32_t cbid, const char* name, const void* parameters, const char* symbol) {
  ApiEvent call;
  call.cbid = cbid;
  call.name = name;
  call.parameters = parameters;
  call.symbol = symbol;
  begin(call);
}

CUresult leave_call(CUresult result) {
  end(result);
  return result;
}

}  // namespace jaxprof::fake_cuda

extern "C" {

std::uint32_t fake_cuda_last_correlation(void) {
  return jaxprof::fake_cuda::calls().latest;
}

void fake_cuda_runtime_begin(std::uint32_t cbid, const char* name) {
  if (jaxprof::fake_cuda::readiness() != CUDA_SUCCESS) return;
  jaxprof::fake_cuda::ApiEvent call;
  call.is_runtime = true;
  call.cbid = cbid;
  call.name = name;
  jaxprof::fake_cuda::begin(call);
}

void fake_cuda_runtime_end(void) {
  if (jaxprof::fake_cuda::readiness() != CUDA_SUCCESS) return;
  if (!jaxprof::fake_cuda::calls().open.empty()) jaxprof::fake_cuda::end(CUDA_SUCCESS);
}

}  // extern "C"
