#include "tests/puppets/gpu.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace jaxprof::puppets {
namespace {

constexpr unsigned kNonBlocking = 1;  // CU_STREAM_NON_BLOCKING
constexpr int kCaptureRelaxed = 2;    // CU_STREAM_CAPTURE_MODE_RELAXED
constexpr unsigned kThreadsOfBlock = 16 * 32;

// The tests' driver refuses nothing that is asked here, so a refusal is a fault of one of the two.
void check(int result, const char* what) {
  if (result != 0) {
    std::fprintf(stderr, "nccl_puppet: %s failed with CUDA error %d\n", what, result);
    std::abort();
  }
}

}  // namespace

bool Gpu::load(Driver* driver) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return false;
  }
  bool has_all = true;
  const auto find = [&](auto* function, const char* name) {
    *function = reinterpret_cast<std::remove_pointer_t<decltype(function)>>(dlsym(library, name));
    has_all = has_all && *function != nullptr;
  };
  find(&driver->fake_cuda_kernel, "fake_cuda_kernel");
  find(&driver->fake_cuda_kernel_shape, "fake_cuda_kernel_shape");
  find(&driver->cuInit, "cuInit");
  find(&driver->cuDeviceGetCount, "cuDeviceGetCount");
  find(&driver->cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain");
  find(&driver->cuCtxSetCurrent, "cuCtxSetCurrent");
  find(&driver->cuStreamCreate, "cuStreamCreate");
  find(&driver->cuStreamSynchronize, "cuStreamSynchronize");
  find(&driver->cuLaunchKernel, "cuLaunchKernel");
  find(&driver->cuLaunchHostFunc, "cuLaunchHostFunc");
  find(&driver->cuMemcpyAsync, "cuMemcpyAsync");
  find(&driver->cuStreamBeginCapture_v2, "cuStreamBeginCapture_v2");
  find(&driver->cuStreamEndCapture, "cuStreamEndCapture");
  find(&driver->cuGraphInstantiateWithFlags, "cuGraphInstantiateWithFlags");
  find(&driver->cuGraphLaunch, "cuGraphLaunch");
  find(&driver->cuGraphExecDestroy, "cuGraphExecDestroy");
  find(&driver->cuGraphDestroy, "cuGraphDestroy");
  return has_all;
}

Gpu* Gpu::find() {
  static Gpu* const gpu = []() -> Gpu* {
    Driver driver{};
    if (!load(&driver) || driver.cuInit(0) != 0) {
      return nullptr;
    }
    return new Gpu(driver);  // as long as the process
  }();
  return gpu;
}

int Gpu::ordinal(int wanted) const {
  int count = 1;
  check(driver_.cuDeviceGetCount(&count), "cuDeviceGetCount");
  return wanted % count;
}

void Gpu::use_device(int wanted) {
  void* context = nullptr;
  check(driver_.cuDevicePrimaryCtxRetain(&context, ordinal(wanted)), "cuDevicePrimaryCtxRetain");
  check(driver_.cuCtxSetCurrent(context), "cuCtxSetCurrent");
}

void* Gpu::create_stream() {
  void* stream = nullptr;
  check(driver_.cuStreamCreate(&stream, kNonBlocking), "cuStreamCreate");
  return stream;
}

void Gpu::synchronize(void* stream) {
  check(driver_.cuStreamSynchronize(stream), "cuStreamSynchronize");
}

void Gpu::launch_kernel(const std::string& name, FakeCudaBody body, unsigned n_blocks, void* stream, void* parameter) {
  void* function = nullptr;
  {
    const std::lock_guard lock(mutex_);
    void*& known = kernels_[name];
    if (known == nullptr) {
      known = driver_.fake_cuda_kernel(name.c_str(), body, nullptr);
      driver_.fake_cuda_kernel_shape(known, 1, 0);
    }
    function = known;
  }
  void* parameters[] = {&parameter};
  check(driver_.cuLaunchKernel(function, n_blocks, 1, 1, kThreadsOfBlock, 1, 1, 0, stream, parameters, nullptr),
        "cuLaunchKernel");
}

void Gpu::launch_host_function(void (*function)(void*), void* argument, void* stream) {
  check(driver_.cuLaunchHostFunc(stream, function, argument), "cuLaunchHostFunc");
}

void Gpu::copy(void* to, const void* from, std::size_t bytes, void* stream) {
  check(driver_.cuMemcpyAsync(reinterpret_cast<std::uintptr_t>(to), reinterpret_cast<std::uintptr_t>(from), bytes,
                              stream),
        "cuMemcpyAsync");
}

void Gpu::begin_capture(void* stream) {
  check(driver_.cuStreamBeginCapture_v2(stream, kCaptureRelaxed), "cuStreamBeginCapture");
}

void* Gpu::end_capture(void* stream) {
  void* graph = nullptr;
  void* executable = nullptr;
  check(driver_.cuStreamEndCapture(stream, &graph), "cuStreamEndCapture");
  check(driver_.cuGraphInstantiateWithFlags(&executable, graph, 0), "cuGraphInstantiate");
  check(driver_.cuGraphDestroy(graph), "cuGraphDestroy");
  return executable;
}

void Gpu::launch_graph(void* executable, void* stream) {
  check(driver_.cuGraphLaunch(executable, stream), "cuGraphLaunch");
}

void Gpu::destroy_graph(void* executable) {
  check(driver_.cuGraphExecDestroy(executable), "cuGraphExecDestroy");
}

}  // namespace jaxprof::puppets
