// What CUPTI calls, on the job's threads and its own: buffers wanted and filled, contexts, streams and graph nodes
// made, modules unloaded, cudaProfilerStart and Stop, and CUPTI's own end. Each does a few loads and stores, or asks
// CUPTI for a number and registers it; none allocates, waits, flushes, or calls CUDA.
#pragma once

#include "agent/cupti/cupti_abi.h"
#include "agent/cupti/subscriber.h"

namespace jaxprof::cupti {

extern const BufferCallbacks kBufferCallbacks;

void on_callback(void* user, abi::Domain domain, abi::CallbackId id, const void* data) noexcept;

// Has CUPTI call on_callback for resources and its own end.
void watch_resources(Subscriber* subscriber) noexcept;
// For cudaProfilerStart and Stop.
void watch_profiler(Subscriber* subscriber) noexcept;

}  // namespace jaxprof::cupti
