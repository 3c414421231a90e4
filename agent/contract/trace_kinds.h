// What is recorded (-t). Each kind has one name on the command line, and costs something; those that cost much are off
// unless they are named. This is the one place that knows the names. Agent-safe.
#pragma once

#include <cstddef>
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

// What became of one name.
enum class TraceFault : std::uint32_t {
  kNone,
  kUnknown,
  kUnsupported,  // one of nsys's that is not recorded here
};

// The bits of one name: a kind, with kTraceCuda where it is an addition to that. 0 for "none", and for what is no name
// of ours; `fault` tells which.
std::uint32_t trace_kind_of(std::string_view name, TraceFault* fault) noexcept;

// The names of a set, "cuda,nvtx,nccl"; "none" for the empty one. At most kTraceKindsBytes.
inline constexpr std::size_t kTraceKindsBytes = 80;
void append_trace_kinds(std::uint32_t kinds, TextBuffer* out) noexcept;

}  // namespace jaxprof
