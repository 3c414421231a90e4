// What is recorded (-t). Each kind has one name on the command line, and costs something; those that cost much are off
// unless they are named. This is the one place that knows the names. Agent-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "agent/base/text.h"

namespace jaxprof {

// Bits of a set. Plain numbers: the set lies in the session page.
enum TraceKind : std::uint32_t {
  kTraceCuda = 1U << 0,      // kernels, copies, memsets, launching, copying, synchronising and graph calls, by CUPTI
  kTraceNvtx = 1U << 1,      // ranges and marks of all domains but NCCL's
  kTraceNccl = 1U << 2,      // profiler plugin, and the ranges of NVTX domain NCCL
  kTraceNic = 1U << 3,       // counters of network cards, by the node's observer
  kTraceGpu = 1U << 4,       // clocks and power of GPUs, by the node's observer
  kTraceSync = 1U << 5,      // waits for streams, events and contexts
  kTraceEvents = 1U << 6,    // CUDA events
  kTraceGraph = 1U << 7,     // whole CUDA graphs instead of their nodes
  kTraceHardware = 1U << 8,  // kernel times by hardware events (Blackwell and later)
};
inline constexpr std::uint32_t kDefaultTrace = kTraceCuda | kTraceNvtx | kTraceNccl | kTraceNic | kTraceGpu;

// What could not be taken from one list.
enum class TraceFault : std::uint32_t { kNone, kUnknown, kUnsupported };

// The kind of one name, 0 if there is none; `fault` then tells whether it is one of another profiler's that is not
// recorded here.
std::uint32_t trace_kind_of(std::string_view name, TraceFault* fault) noexcept;

// The names of a set, "cuda,nvtx,nccl".
void append_trace_kinds(std::uint32_t kinds, TextBuffer* out) noexcept;

}  // namespace jaxprof
