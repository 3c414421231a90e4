// The NCCL profiler plugin: the symbols that NCCL looks up, the newest that it knows first. Every callback returns
// success and leaves a handle, whatever it is given. What we ask NCCL for differs by version, since each knows more
// events than the one before; what is done with them does not (recorder.h, describe.h).
#pragma once

#include "agent/nccl/descriptors.h"

namespace jaxprof::nccl {

// The events that we ask NCCL for: calls and groups, from version 5 on API calls and launches, from version 6 on
// collectives by copy engines. KernelCh slows kernels down and ProxyCtrl floods, so neither.
constexpr int mask_of(std::uint32_t api) noexcept {
  return api <= 4 ? 0x7 : api == 5 ? 0xF06 : 0x1F06;
}

}  // namespace jaxprof::nccl

#define JAXPROF_NCCL_EXPORT extern "C" __attribute__((visibility("default"))) const
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV1 ncclProfiler_v1;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV2 ncclProfiler_v2;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV3 ncclProfiler_v3;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV4 ncclProfiler_v4;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV5 ncclProfiler_v5;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV6 ncclProfiler_v6;
JAXPROF_NCCL_EXPORT jaxprof::nccl::ProfilerV7 ncclProfiler_v7;
