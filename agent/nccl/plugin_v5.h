// The NCCL profiler plugin, version 5: each callback is copied, with a stamp, into the calling thread's ring. NCCL
// calls from the user's thread, its launching thread, CUDA's callback thread and its proxy thread, all at once, and
// after finalize as well. Every callback returns success and leaves a handle, whatever it is given.
#pragma once

#include "agent/nccl/profiler_v5.h"

namespace jaxprof::nccl {}  // namespace jaxprof::nccl

// The symbol that NCCL looks up; exported.
extern "C" __attribute__((visibility("default"))) const jaxprof::nccl::ProfilerV5 ncclProfiler_v5;
