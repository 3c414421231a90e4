// What tools ask for to find out what there is: optional features, and CUPTI's numbers of CUDA's objects.

#include <cupti.h>

#include "tests/doubles/cuda/cupti/activity_calls.h"
#include "tests/doubles/cuda/cupti/guard.h"

using namespace jaxprof::fake_cuda;

namespace {

// A feature that can be switched and changes nothing here.
CUptiResult accept(const char* function) {
  return may_run_v1(function);
}

template <typename Number>
CUptiResult found(Number number, Number* out) {
  if (number == 0) return remember(CUPTI_ERROR_INVALID_PARAMETER);
  *out = number;
  return CUPTI_SUCCESS;
}

}  // namespace

extern "C" {

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t) {
  return accept("cuptiActivityEnableLatencyTimestamps");
}

CUptiResult cuptiActivityEnableHWTrace(uint8_t) {
  const CUptiResult result = may_run_v1("cuptiActivityEnableHWTrace");
  return result != CUPTI_SUCCESS ? result : enable_hardware_trace();
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t) {
  return accept("cuptiActivityEnableAllSyncRecords");
}

CUptiResult cuptiActivityEnableCudaEventDeviceTimestamps(uint8_t) {
  return accept("cuptiActivityEnableCudaEventDeviceTimestamps");
}

CUptiResult cuptiDeviceVirtualizationMode(CUdevice, CUpti_DeviceVirtualizationMode* mode) {
  const CUptiResult result = may_run("cuptiDeviceVirtualizationMode");
  if (result == CUPTI_SUCCESS) *mode = CUPTI_DEVICE_VIRTUALIZATION_MODE_NONE;
  return result;
}

CUptiResult cuptiGetContextId(CUcontext context, uint32_t* id) {
  if (const CUptiResult result = may_run("cuptiGetContextId"); result != CUPTI_SUCCESS) return result;
  for (const auto& facts : Tool::get().driver()->contexts()) {
    if (facts.handle == context) return found(facts.id, id);
  }
  return remember(CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiGetDeviceId(CUcontext context, uint32_t* id) {
  if (const CUptiResult result = may_run("cuptiGetDeviceId"); result != CUPTI_SUCCESS) return result;
  for (const auto& facts : Tool::get().driver()->contexts()) {
    if (facts.handle != context) continue;
    *id = facts.device;
    return CUPTI_SUCCESS;
  }
  return remember(CUPTI_ERROR_INVALID_CONTEXT);
}

CUptiResult cuptiGetStreamIdEx(CUcontext context, CUstream stream, uint8_t, uint32_t* id) {
  if (const CUptiResult result = may_run("cuptiGetStreamIdEx"); result != CUPTI_SUCCESS) return result;
  return found(Tool::get().driver()->stream_id(context, stream), id);
}

CUptiResult cuptiGetGraphExecId(CUgraphExec graph_exec, uint32_t* id) {
  if (const CUptiResult result = may_run("cuptiGetGraphExecId"); result != CUPTI_SUCCESS) return result;
  return found(Tool::get().driver()->graph_exec_id(graph_exec), id);
}

CUptiResult cuptiGetGraphId(CUgraph graph, uint32_t* id) {
  if (const CUptiResult result = may_run("cuptiGetGraphId"); result != CUPTI_SUCCESS) return result;
  return found(Tool::get().driver()->graph_id(graph), id);
}

CUptiResult cuptiGetGraphNodeId(CUgraphNode node, uint64_t* id) {
  if (const CUptiResult result = may_run("cuptiGetGraphNodeId"); result != CUPTI_SUCCESS) return result;
  return found(Tool::get().driver()->graph_node_id(node), id);
}

}  // extern "C"
