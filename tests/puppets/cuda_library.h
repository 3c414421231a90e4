// The CUDA driver as a program finds it that links nothing: libcuda.so.1 by dlopen, functions by name. Declared here
// once more, with plain pointers for handles, so that the puppet does not share a mistake with what is tested. The
// extension of tests/doubles/cuda/fake_cuda.h comes from the same library.
#pragma once

#include <cstdint>
#include <string>

#include "tests/doubles/cuda/fake_cuda.h"

namespace jaxprof::puppets {

using CudaHandle = void*;
using CudaAddress = unsigned long long;

// CUDA_KERNEL_NODE_PARAMS_v2, as cuGraphAddKernelNode_v2 reads it.
struct CudaKernelNode {
  CudaHandle function;
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  void** parameters;
  void** extra;
  CudaHandle kernel;
  CudaHandle context;
};

struct CudaLibrary {
  int (*init)(unsigned);
  int (*get_device)(int*, int);
  int (*retain_primary)(CudaHandle*, int);
  int (*set_current)(CudaHandle);
  int (*synchronize_context)();
  int (*create_stream)(CudaHandle*, unsigned);
  int (*destroy_stream)(CudaHandle);
  int (*synchronize_stream)(CudaHandle);
  int (*wait_event)(CudaHandle, CudaHandle, unsigned);
  int (*create_event)(CudaHandle*, unsigned);
  int (*record_event)(CudaHandle, CudaHandle);
  int (*allocate)(CudaAddress*, std::size_t);
  int (*copy_to_device)(CudaAddress, const void*, std::size_t, CudaHandle);
  int (*copy_to_host)(void*, CudaAddress, std::size_t, CudaHandle);
  int (*fill)(CudaAddress, unsigned char, std::size_t, CudaHandle);
  int (*launch)(CudaHandle, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CudaHandle, void**,
                void**);
  int (*launch_host)(CudaHandle, void (*)(void*), void*);
  int (*load_module)(CudaHandle*, const void*);
  int (*get_function)(CudaHandle*, CudaHandle, const char*);
  int (*unload_module)(CudaHandle);
  int (*create_graph)(CudaHandle*, unsigned);
  int (*add_kernel_node)(CudaHandle*, CudaHandle, const CudaHandle*, std::size_t, const CudaKernelNode*);
  int (*instantiate)(CudaHandle*, CudaHandle, unsigned long long);
  int (*launch_graph)(CudaHandle, CudaHandle);
  int (*begin_capture)(CudaHandle, int);
  int (*end_capture)(CudaHandle, CudaHandle*);
  int (*profiler_start)();
  int (*profiler_stop)();
  // fake_cuda.h
  void* (*make_kernel)(const char*, FakeCudaBody, void*);
  void (*shape_kernel)(void*, std::uint32_t, std::int64_t);
  std::uint32_t (*last_correlation)();
  std::uint32_t (*stream_id)(void*);
  void (*observe)(void (*)(const FakeCudaOperation*, void*), void*);
  void (*runtime_begin)(std::uint32_t, const char*);
  void (*runtime_end)();
};

// Loads the library. False, and `error` names what is missing.
bool load_cuda(CudaLibrary* library, std::string* error);
// Ends the puppet with status 3 and a line if a call failed.
void cuda_must(int result, const char* what);

}  // namespace jaxprof::puppets
