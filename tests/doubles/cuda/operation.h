// One thing a GPU does: a kernel, a copy, a memset, a host function, or the bookkeeping between streams. Made by a
// driver call, run by the stream's thread, its times given to CUPTI by the delivery thread; moved along, never shared.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tests/doubles/cuda/fake_cuda.h"

struct CUfunc_st;

namespace jaxprof::fake_cuda {

// One launch of a graph, shared by the operations of its nodes.
struct GraphRun {
  std::uint32_t graph = 0;  // number of the executable graph
  bool is_traced_whole = false;
  std::int64_t begin_raw_ns = 0;
  std::int64_t end_raw_ns = 0;
};

// What CUPTI keeps with an operation from launch to delivery.
struct RecordToken {
  virtual ~RecordToken() = default;
};

struct Operation {
  FakeCudaKind kind = kFakeCudaHost;
  bool is_visible = true;  // false: the waits and marks that no profiler sees
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  // of a kernel
  CUfunc_st* function = nullptr;
  const char* name = "";
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t shared_bytes = 0;
  std::int32_t priority = 0;
  std::vector<std::uint64_t> parameters;
  // of a copy or memset
  std::uint64_t bytes = 0;
  std::uint32_t fill_value = 0;
  CUmemorytype source = CU_MEMORYTYPE_DEVICE;
  CUmemorytype target = CU_MEMORYTYPE_DEVICE;
  std::uint32_t source_device = 0;
  std::uint32_t target_device = 0;
  // what is done on the stream's thread, if it is not a kernel
  std::function<void()> act;
  // of a graph's node
  std::uint64_t graph_node = 0;
  std::uint32_t source_graph = 0;
  std::uint64_t source_node = 0;
  std::shared_ptr<GraphRun> graph_run;
  // times, CLOCK_MONOTONIC_RAW
  std::int64_t submitted_raw_ns = 0;
  std::int64_t begin_raw_ns = 0;
  std::int64_t end_raw_ns = 0;
  // the same in the GPU's clock, once it has ended
  std::int64_t begin_gpu_ns = 0;
  std::int64_t end_gpu_ns = 0;

  std::vector<std::unique_ptr<RecordToken>> tokens;  // of CUPTI's
};

using OperationPtr = std::unique_ptr<Operation>;

}  // namespace jaxprof::fake_cuda
