// The symbols that the three hooks look for, and the only ones that the shared object exports. Each notes that it was
// called, attaches the process on the first call of any, and hands over to the collector that it belongs to.
#include "agent/collect/event_sink.h"
#include "agent/cupti/collector.h"
#include "agent/nvtx/injection.h"

#define JAXPROF_EXPORT extern "C" __attribute__((visibility("default")))

// CUDA_INJECTION64_PATH: called by the CUDA driver inside cuInit, where no CUDA call and no long wait is allowed.
JAXPROF_EXPORT int InitializeInjection() {
  if (jaxprof::collect::attach(jaxprof::kHookCuda, 0)) jaxprof::cupti::initialize();
  return 1;
}

// NVTX_INJECTION64_PATH: called by every copy of NVTX in the process, on its first use.
JAXPROF_EXPORT int InitializeInjectionNvtx2(const void* (*get_export_table)(unsigned)) {
  return jaxprof::nvtx::initialize(get_export_table);
}

// The same for NVTX's extensions, once a copy and extension.
JAXPROF_EXPORT int InitializeInjectionNvtxExtension(void* module) {
  return jaxprof::nvtx::initialize_extension(module);
}

// NCCL_PROFILER_PLUGIN looks for variables, ncclProfiler_v1 to _v7, which agent/nccl defines.
