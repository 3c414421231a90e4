// Launches of kernels and host functions.

#include <cuda.h>
#include <cupti.h>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/engine.h"
#include "tests/doubles/cuda/driver/kernel_operation.h"

namespace jaxprof::fake_cuda {

OperationPtr kernel_operation(CUfunction function, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                              std::uint32_t shared_bytes, void* const* parameters) {
  auto operation = std::make_unique<Operation>();
  operation->kind = kFakeCudaKernel;
  operation->function = function;
  operation->name = function->name;
  for (int i = 0; i < 3; ++i) {
    operation->grid[i] = grid[i];
    operation->block[i] = block[i];
  }
  operation->shared_bytes = shared_bytes;
  for (std::uint32_t i = 0; i < function->parameter_count && parameters != nullptr; ++i) {
    operation->parameters.push_back(*static_cast<const std::uint64_t*>(parameters[i]));
  }
  return operation;
}

}  // namespace jaxprof::fake_cuda

using namespace jaxprof::fake_cuda;

namespace {

CUresult launch(CUfunction function, CUstream handle, const std::uint32_t (&grid)[3], const std::uint32_t (&block)[3],
                std::uint32_t shared_bytes, void** parameters) {
  if (function == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  CUstream const stream = Engine::get().resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  Engine::get().submit(stream, kernel_operation(function, grid, block, shared_bytes, parameters));
  return CUDA_SUCCESS;
}

const char* name_of(CUfunction function) {
  return function == nullptr ? nullptr : function->name;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream, void** parameters,
                        void** extra) {
  return FAKE_CUDA_TRACED(
      cuLaunchKernel, name_of(function),
      ({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters, extra}), [&] {
        return launch(function, stream, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                      parameters);
      });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** parameters, void** extra) {
  return FAKE_CUDA_TRACED(cuLaunchKernelEx, name_of(function), ({config, function, parameters, extra}), [&] {
    return launch(function, config->hStream, {config->gridDimX, config->gridDimY, config->gridDimZ},
                  {config->blockDimX, config->blockDimY, config->blockDimZ}, config->sharedMemBytes, parameters);
  });
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                                   unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                                   CUstream stream, void** parameters) {
  return FAKE_CUDA_TRACED(
      cuLaunchCooperativeKernel, name_of(function),
      ({function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, parameters}), [&] {
        return launch(function, stream, {grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes,
                      parameters);
      });
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return FAKE_CUDA_TRACED(cuLaunchHostFunc, nullptr, ({stream, function, data}), [&] {
    CUstream const real = Engine::get().resolve(stream);
    if (real == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    auto operation = std::make_unique<Operation>();
    operation->kind = kFakeCudaHost;
    operation->act = [function, data] { function(data); };
    Engine::get().submit(real, std::move(operation));
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
