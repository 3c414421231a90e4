// fake_cuda.h's functions about the engine as a whole.

#include "tests/doubles/cuda/fake_cuda.h"

#include "tests/doubles/cuda/driver/driver_switches.h"
#include "tests/doubles/cuda/driver/engine.h"

using jaxprof::fake_cuda::Engine;

extern "C" {

std::uint32_t fake_cuda_stream_id(void* stream) {
  return Engine::get().stream_id(nullptr, static_cast<CUstream>(stream));
}

void fake_cuda_observe(void (*observer)(const FakeCudaOperation*, void*), void* data) {
  Engine::get().truth_data = data;
  Engine::get().truth = observer;
}

std::int64_t fake_cuda_clock_ns(std::int64_t raw_ns) {
  return Engine::get().clock.of_raw(raw_ns);
}

void fake_cuda_step_clock(std::int64_t by_ns) {
  Engine::get().clock.step(by_ns);
}

void fake_cuda_settle(void) {
  Engine& engine = Engine::get();
  for (const auto& context : engine.contexts()) engine.synchronize(context.handle);
  engine.delivery.settle();
}

int fake_cuda_set(const char* name, std::int64_t value) {
  return jaxprof::fake_cuda::switches().set(name, value) ? 1 : 0;
}

}  // extern "C"
