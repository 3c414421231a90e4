#include "tests/puppets/cuda_library.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>

namespace jaxprof::puppets {
namespace {

template <typename Function>
void find(void* library, const char* name, Function* function, std::string* missing) {
  *function = reinterpret_cast<Function>(dlsym(library, name));
  if (*function == nullptr) *missing = name;
}

}  // namespace

bool load_cuda(CudaLibrary* cuda, std::string* error) {
  void* const library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *error = dlerror();
    return false;
  }
  std::string missing;
  find(library, "cuInit", &cuda->init, &missing);
  find(library, "cuDeviceGet", &cuda->get_device, &missing);
  find(library, "cuDevicePrimaryCtxRetain", &cuda->retain_primary, &missing);
  find(library, "cuCtxSetCurrent", &cuda->set_current, &missing);
  find(library, "cuCtxSynchronize", &cuda->synchronize_context, &missing);
  find(library, "cuStreamCreate", &cuda->create_stream, &missing);
  find(library, "cuStreamDestroy_v2", &cuda->destroy_stream, &missing);
  find(library, "cuStreamSynchronize", &cuda->synchronize_stream, &missing);
  find(library, "cuStreamWaitEvent", &cuda->wait_event, &missing);
  find(library, "cuEventCreate", &cuda->create_event, &missing);
  find(library, "cuEventRecord", &cuda->record_event, &missing);
  find(library, "cuMemAlloc_v2", &cuda->allocate, &missing);
  find(library, "cuMemcpyHtoDAsync_v2", &cuda->copy_to_device, &missing);
  find(library, "cuMemcpyDtoHAsync_v2", &cuda->copy_to_host, &missing);
  find(library, "cuMemsetD8Async", &cuda->fill, &missing);
  find(library, "cuLaunchKernel", &cuda->launch, &missing);
  find(library, "cuLaunchHostFunc", &cuda->launch_host, &missing);
  find(library, "cuModuleLoadData", &cuda->load_module, &missing);
  find(library, "cuModuleGetFunction", &cuda->get_function, &missing);
  find(library, "cuModuleUnload", &cuda->unload_module, &missing);
  find(library, "cuGraphCreate", &cuda->create_graph, &missing);
  find(library, "cuGraphAddKernelNode_v2", &cuda->add_kernel_node, &missing);
  find(library, "cuGraphInstantiateWithFlags", &cuda->instantiate, &missing);
  find(library, "cuGraphLaunch", &cuda->launch_graph, &missing);
  find(library, "cuStreamBeginCapture_v2", &cuda->begin_capture, &missing);
  find(library, "cuStreamEndCapture", &cuda->end_capture, &missing);
  find(library, "cuProfilerStart", &cuda->profiler_start, &missing);
  find(library, "cuProfilerStop", &cuda->profiler_stop, &missing);
  find(library, "fake_cuda_kernel", &cuda->make_kernel, &missing);
  find(library, "fake_cuda_kernel_shape", &cuda->shape_kernel, &missing);
  find(library, "fake_cuda_last_correlation", &cuda->last_correlation, &missing);
  find(library, "fake_cuda_stream_id", &cuda->stream_id, &missing);
  find(library, "fake_cuda_observe", &cuda->observe, &missing);
  find(library, "fake_cuda_runtime_begin", &cuda->runtime_begin, &missing);
  find(library, "fake_cuda_runtime_end", &cuda->runtime_end, &missing);
  if (!missing.empty()) *error = "libcuda.so.1 has no " + missing + "; is it the fake one?";
  return missing.empty();
}

void cuda_must(int result, const char* what) {
  if (result == 0) return;
  std::fprintf(stderr, "cuda_puppet: %s failed with %d\n", what, result);
  std::exit(3);
}

}  // namespace jaxprof::puppets
