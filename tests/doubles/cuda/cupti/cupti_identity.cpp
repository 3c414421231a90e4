// Who this library is, and names of numbers. These work without a driver, as the real ones of 12.x to 13.1 do.

#include <cupti.h>

#include <cstdio>

#include "tests/doubles/cuda/cupti/cupti_switches.h"
#include "tests/doubles/cuda/cupti/guard.h"
#include "tests/doubles/cuda/cupti/record_layout.h"

using namespace jaxprof::fake_cuda;

namespace {

struct CallbackName {
  CUpti_CallbackDomain domain;
  CUpti_CallbackId cbid;
  const char* name;
};

// The calls that the fake driver makes, and the runtime's that programs make around them.
constexpr CallbackName kNames[] = {
#define DRIVER(NAME) \
  { CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_##NAME, #NAME }
#define RUNTIME(NAME) \
  { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_RUNTIME_TRACE_CBID_##NAME, #NAME }
    DRIVER(cuLaunchKernel),
    DRIVER(cuLaunchKernelEx),
    DRIVER(cuLaunchCooperativeKernel),
    DRIVER(cuLaunchHostFunc),
    DRIVER(cuGraphLaunch),
    DRIVER(cuMemcpyAsync),
    DRIVER(cuMemcpyHtoDAsync_v2),
    DRIVER(cuMemcpyDtoHAsync_v2),
    DRIVER(cuMemcpyDtoDAsync_v2),
    DRIVER(cuMemcpyPeerAsync),
    DRIVER(cuMemcpyHtoD_v2),
    DRIVER(cuMemcpyDtoH_v2),
    DRIVER(cuMemsetD8Async),
    DRIVER(cuMemsetD32Async),
    DRIVER(cuStreamSynchronize),
    DRIVER(cuStreamWaitEvent),
    DRIVER(cuCtxSynchronize),
    DRIVER(cuEventRecord),
    DRIVER(cuEventSynchronize),
    DRIVER(cuProfilerStart),
    DRIVER(cuProfilerStop),
    RUNTIME(cudaLaunchKernel_v7000),
    RUNTIME(cudaGraphLaunch_v10000),
    RUNTIME(cudaMemcpyAsync_v3020),
    RUNTIME(cudaStreamSynchronize_v3020),
    RUNTIME(cudaProfilerStart_v4000),
    RUNTIME(cudaProfilerStop_v4000),
#undef DRIVER
#undef RUNTIME
};

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(uint32_t* version) {
  if (version == nullptr) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  if (const std::int64_t result = cupti_switches()[CuptiSwitch::kVersionResult]; result != 0) {
    return remember(static_cast<CUptiResult>(result));
  }
  *version = cupti_version();
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char** name) {
  for (const CallbackName& one : kNames) {
    if (one.domain == domain && one.cbid == cbid) {
      *name = one.name;
      return CUPTI_SUCCESS;
    }
  }
  return remember(CUPTI_ERROR_INVALID_PARAMETER);
}

CUptiResult cuptiGetResultString(CUptiResult result, const char** text) {
  switch (result) {
#define RESULT(NAME) \
  case NAME:         \
    *text = #NAME;   \
    break
    RESULT(CUPTI_SUCCESS);
    RESULT(CUPTI_ERROR_INVALID_PARAMETER);
    RESULT(CUPTI_ERROR_INVALID_OPERATION);
    RESULT(CUPTI_ERROR_MAX_LIMIT_REACHED);
    RESULT(CUPTI_ERROR_NOT_COMPATIBLE);
    RESULT(CUPTI_ERROR_NOT_INITIALIZED);
    RESULT(CUPTI_ERROR_QUEUE_EMPTY);
    RESULT(CUPTI_ERROR_INVALID_KIND);
    RESULT(CUPTI_ERROR_NOT_SUPPORTED);
    RESULT(CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
    RESULT(CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
    RESULT(CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES);
    RESULT(CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
    RESULT(CUPTI_ERROR_UNKNOWN);
#undef RESULT
    default:
      return remember(CUPTI_ERROR_INVALID_PARAMETER);
  }
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetErrorMessage(CUptiResult result, const char** text) {
  return cuptiGetResultString(result, text);
}

}  // extern "C"
