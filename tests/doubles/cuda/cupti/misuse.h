// What a tool may not do, and what it did: counted, and violations written to FAKE_CUPTI_REPORT as they happen, so that
// they survive however the process ends. A test fails on the first; the real CUPTI would hang on one machine in a
// hundred.
#pragma once

#include <atomic>
#include <cstdint>

#include "tests/doubles/cuda/fake_cuda.h"

namespace jaxprof::fake_cuda {

// FakeCuptiCounts, as it grows.
struct Counts {
  std::atomic<std::uint64_t> violations, cuda_in_callback, flush_in_callback, lock_across, calls_in_child,
      no_descriptors, buffer_not_zeroed, finalize_calls, timestamp_callbacks, subscriptions, refused_subscriptions,
      enables, disables, flushes, forced_flushes, buffers_requested, buffers_requested_on_worker, buffers_completed,
      null_buffers, records, dropped_records, abandoned_records, external_ids, correlation_pushes, hardware_traces,
      small_stack, idle_flushes;
};
Counts& counts();

// Raises `counter` and the sum, and reports `kind` with where it was seen.
void violation(std::atomic<std::uint64_t>& counter, const char* kind, const char* where);

// What a callback of the tool that runs on this thread may do.
enum class CallbackKind { kNone, kApi, kResource, kState, kBuffer };
CallbackKind running_callback();
class CallbackScope {
 public:
  explicit CallbackScope(CallbackKind kind);
  ~CallbackScope();
  CallbackScope(const CallbackScope&) = delete;
  CallbackScope& operator=(const CallbackScope&) = delete;

 private:
  const CallbackKind before_;
};

// True, and a violation, in a forked child.
bool is_forked_child(const char* function);

}  // namespace jaxprof::fake_cuda
