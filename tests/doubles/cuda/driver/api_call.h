// Around each driver function: the tools' callbacks, on entering and on leaving, with one correlation id a call, and
// the refusal of calls before cuInit and in forked children.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace jaxprof::fake_cuda {

// The id of the driver or runtime call that the calling thread is in, else of its latest.
std::uint32_t calling_correlation();

void enter_call(std::uint32_t cbid, const char* name, const void* parameters, const char* symbol);
CUresult leave_call(CUresult result);
// Success if the process may call the driver now.
CUresult readiness();
// Tells the tools that `name` was called, whether or not it is ready.
void note_call(const char* name);

// Runs `body` as the driver function `name`. `parameters` points to CUPTI's structure of its parameters; `symbol` is
// the kernel's name of a launch.
template <typename Parameters, typename Body>
CUresult traced(std::uint32_t cbid, const char* name, const Parameters& parameters, const char* symbol,
                const Body& body) {
  if (const CUresult result = readiness(); result != CUDA_SUCCESS) return result;
  note_call(name);
  enter_call(cbid, name, &parameters, symbol);
  return leave_call(body());
}

}  // namespace jaxprof::fake_cuda

// The number, name and parameter type that CUPTI has for the driver function FUNCTION (its real name, with _v2).
#define FAKE_CUDA_TRACED(FUNCTION, SYMBOL, PARAMETERS, ...)                                                         \
  ::jaxprof::fake_cuda::traced(CUPTI_DRIVER_TRACE_CBID_##FUNCTION, #FUNCTION, FUNCTION##_params PARAMETERS, SYMBOL, \
                               __VA_ARGS__)
