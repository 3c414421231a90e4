// The GPU, as the puppet's NCCL uses it: streams, kernels, host functions, graphs, through the CUDA driver. There is
// one only under the tests' own driver (tests/doubles/cuda), which can run a kernel that is a C function; then a
// transfer is a kernel, and a profiler sees it as it sees NCCL's. Without it the puppet's streams are threads of its
// own.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "tests/doubles/cuda/fake_cuda.h"

namespace jaxprof::puppets {

class Gpu {
 public:
  // Null where there is no driver, or another than the tests'. Initialises the driver, which injects what
  // CUDA_INJECTION64_PATH names.
  static Gpu* find();

  // CUDA's number of the device `wanted`, of those that there are, counted round.
  int ordinal(int wanted) const;
  // Makes that device current to the calling thread.
  void use_device(int wanted);
  void* create_stream();
  void synchronize(void* stream);

  // A kernel of this name whose body is `body`, with one parameter of 8 bytes. One body a process.
  void launch_kernel(const std::string& name, FakeCudaBody body, unsigned n_blocks, void* stream, void* parameter);
  void launch_host_function(void (*function)(void*), void* argument, void* stream);
  void copy(void* to, const void* from, std::size_t bytes, void* stream);

  void begin_capture(void* stream);
  // The executable graph of what was captured.
  void* end_capture(void* stream);
  void launch_graph(void* executable, void* stream);
  void destroy_graph(void* executable);

 private:
  // The driver's functions, by their symbols; results are 0 for success.
  struct Driver {
    int (*cuInit)(unsigned flags);
    int (*cuDeviceGetCount)(int* count);
    int (*cuDevicePrimaryCtxRetain)(void** context, int device);
    int (*cuCtxSetCurrent)(void* context);
    int (*cuStreamCreate)(void** stream, unsigned flags);
    int (*cuStreamSynchronize)(void* stream);
    int (*cuLaunchKernel)(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, void* stream, void** parameters,
                          void** extra);
    int (*cuLaunchHostFunc)(void* stream, void (*function)(void*), void* argument);
    int (*cuMemcpyAsync)(std::uint64_t to, std::uint64_t from, std::size_t bytes, void* stream);
    int (*cuStreamBeginCapture_v2)(void* stream, int mode);
    int (*cuStreamEndCapture)(void* stream, void** graph);
    int (*cuGraphInstantiateWithFlags)(void** executable, void* graph, unsigned long long flags);
    int (*cuGraphLaunch)(void* executable, void* stream);
    int (*cuGraphExecDestroy)(void* executable);
    int (*cuGraphDestroy)(void* graph);
    void* (*fake_cuda_kernel)(const char* name, FakeCudaBody body, void* data);
    void (*fake_cuda_kernel_shape)(void* function, std::uint32_t parameter_count, std::int64_t duration_ns);
  };
  explicit Gpu(const Driver& driver) : driver_(driver) {}
  static bool load(Driver* driver);

  const Driver driver_;
  std::mutex mutex_;
  std::unordered_map<std::string, void*> kernels_;  // by name, registered when first launched
};

}  // namespace jaxprof::puppets
