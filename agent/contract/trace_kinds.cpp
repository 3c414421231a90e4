#include "agent/contract/trace_kinds.h"

namespace jaxprof {
namespace {

struct NamedKind {
  std::string_view name;
  std::uint32_t own;      // the kind
  std::uint32_t implied;  // what it is an addition to
};
// "cuda-hw" is nsys's name.
constexpr NamedKind kKinds[] = {
    {"cuda", kTraceCuda, 0},
    {"nvtx", kTraceNvtx, 0},
    {"nccl", kTraceNccl, 0},
    {"nic", kTraceNic, 0},
    {"gpu", kTraceGpu, 0},
    {"sync", kTraceSync, kTraceCuda},
    {"cuda-event", kTraceEvents, kTraceCuda},
    {"cuda-graph", kTraceGraph, kTraceCuda},
    {"cuda-hw", kTraceHardware, kTraceCuda},
};

// What `nsys profile --trace` takes as well (Nsight Systems User Guide 2025).
constexpr std::string_view kUnsupported[] = {
    "cublas",
    "cublas-verbose",
    "cudla",
    "cudla-verbose",
    "cudnn",
    "cusolver",
    "cusolver-verbose",
    "cusparse",
    "cusparse-verbose",
    "cufile",
    "dx11",
    "dx11-annotations",
    "dx12",
    "dx12-annotations",
    "etw",
    "gds",
    "mpi",
    "nvmedia",
    "nvvideo",
    "openacc",
    "opengl",
    "opengl-annotations",
    "openmp",
    "openxr",
    "openxr-annotations",
    "oshmem",
    "osrt",
    "python-gil",
    "syscall",
    "tegra-accelerators",
    "ucx",
    "vulkan",
    "vulkan-annotations",
    "wddm",
};

}  // namespace

std::uint32_t trace_kind_of(std::string_view name, TraceFault* fault) noexcept {
  *fault = TraceFault::kNone;
  if (name == "none") return 0;
  if (name == "cuda-sw") return kTraceCuda;  // what nsys calls it where cuda-hw is its default
  for (const NamedKind& kind : kKinds) {
    if (name == kind.name) return kind.own | kind.implied;
  }
  *fault = TraceFault::kUnknown;
  for (const std::string_view other : kUnsupported) {
    if (name == other) *fault = TraceFault::kUnsupported;
  }
  return 0;
}

void append_trace_kinds(std::uint32_t kinds, TextBuffer* out) noexcept {
  bool is_first = true;
  for (const NamedKind& kind : kKinds) {
    if ((kinds & kind.own) == 0) continue;
    if (!is_first) out->append(',');
    out->append(kind.name.data(), kind.name.size());
    is_first = false;
  }
  if (is_first) out->append("none");
}

}  // namespace jaxprof
