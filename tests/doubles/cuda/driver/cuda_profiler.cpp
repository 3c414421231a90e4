// cuProfilerStart and Stop, which do nothing but tell tools that they were called, and the ways to find an entry point.

#include <cuda.h>
#include <cudaProfiler.h>
#include <cupti.h>
#include <dlfcn.h>

#include <string>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/engine.h"

using namespace jaxprof::fake_cuda;

namespace {

CUresult tell_tools(std::uint32_t cbid, const char* name) {
  if (const CUresult result = readiness(); result != CUDA_SUCCESS) return result;
  note_call(name);
  enter_call(cbid, name, nullptr, nullptr);
  return leave_call(CUDA_SUCCESS);
}

// The newest of a function's versions that is here: NAME_v4 ... NAME_v2, NAME.
void* find(const std::string& name) {
  for (const char* const suffix : {"_v4", "_v3", "_v2", ""}) {
    if (void* const symbol = dlsym(RTLD_DEFAULT, (name + suffix).c_str())) return symbol;
    // not in the global scope if the program loaded this library for itself
    Dl_info here{};
    if (dladdr(reinterpret_cast<void*>(&tell_tools), &here) == 0) continue;
    void* const library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) continue;
    if (void* const symbol = dlsym(library, (name + suffix).c_str())) return symbol;
  }
  return nullptr;
}

}  // namespace

extern "C" {

CUresult cuProfilerStart(void) {
  return tell_tools(CUPTI_DRIVER_TRACE_CBID_cuProfilerStart, "cuProfilerStart");
}

CUresult cuProfilerStop(void) {
  return tell_tools(CUPTI_DRIVER_TRACE_CBID_cuProfilerStop, "cuProfilerStop");
}

CUresult cuGetProcAddress_v2(const char* name, void** function, int, cuuint64_t,
                             CUdriverProcAddressQueryResult* status) {
  *function = find(name);
  const bool is_found = *function != nullptr;
  if (status != nullptr) *status = is_found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return is_found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

// NVIDIA's libraries look for private tables here; there are none.
CUresult cuGetExportTable(const void** table, const CUuuid*) {
  *table = nullptr;
  return CUDA_ERROR_NOT_FOUND;
}

}  // extern "C"
