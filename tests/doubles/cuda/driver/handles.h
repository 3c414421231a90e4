// What CUDA's opaque handles point to here. CUPTI's numbers (`id`) count from 1 by kind of object, as the real ones do,
// and are never used twice. Nothing is freed before the process ends, so that a late callback finds what it names;
// destroyed objects are only marked.
#pragma once

#include <cuda.h>

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tests/doubles/cuda/driver/stream_queue.h"
#include "tests/doubles/cuda/fake_cuda.h"
#include "tests/doubles/cuda/operation.h"

// A capture that goes on: the graph, and the last node of each stream in it.
struct FakeCapture {
  CUgraph graph = nullptr;
  CUstream origin = nullptr;
};

struct CUstream_st {
  CUstream_st(std::uint32_t number, CUctx_st* owner, jaxprof::fake_cuda::OperationEnded ended)
      : id(number), context(owner), queue(ended) {}
  const std::uint32_t id;
  CUctx_st* const context;
  jaxprof::fake_cuda::StreamQueue queue;
  std::int32_t priority = 0;
  unsigned flags = 0;
  std::atomic<bool> is_alive{true};
  std::shared_ptr<FakeCapture> capture;  // guarded by nothing: one thread captures into a stream
  CUgraphNode_st* last_captured = nullptr;
};

struct CUctx_st {
  std::uint32_t id = 0;
  std::uint32_t device = 0;
  CUstream null_stream = nullptr;
  bool is_primary = false;
  std::atomic<int> uses{1};
  std::atomic<bool> is_alive{true};
};

struct CUfunc_st {
  char* name = nullptr;  // its memory lives for ever; its text until the module is unloaded
  CUmod_st* module = nullptr;
  FakeCudaBody body = nullptr;
  void* data = nullptr;
  std::uint32_t parameter_count = 0;
  std::int64_t duration_ns = -1;  // -1: KERNEL_NS
};

struct CUmod_st {
  std::uint32_t id = 0;
  std::vector<CUfunc_st*> functions;
};

// What an event's latest record will know once the stream got there.
struct FakeEventMark {
  std::mutex mutex;
  std::condition_variable changed;
  bool is_reached = false;
  std::int64_t raw_ns = 0;
};

struct CUevent_st {
  std::uint32_t id = 0;
  std::mutex mutex;
  std::shared_ptr<FakeEventMark> mark;   // null: never recorded
  CUstream stream = nullptr;             // of the latest record
  std::shared_ptr<FakeCapture> capture;  // recorded while captured
  CUgraphNode_st* captured_node = nullptr;
};

struct CUgraphNode_st {
  std::uint64_t id = 0;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphNode_st* source = nullptr;  // of a clone
  std::vector<CUgraphNode_st*> dependencies;
  // Makes the operation that the node is; null if it is none. `parameters` of a kernel are copied when it is added.
  std::function<jaxprof::fake_cuda::OperationPtr()> make;
};

struct CUgraph_st {
  std::uint32_t id = 0;
  CUgraph_st* source = nullptr;
  std::vector<CUgraphNode_st*> nodes;  // in the order they were added, which respects dependencies
};

struct CUgraphExec_st {
  std::uint32_t id = 0;
  CUgraph_st* graph = nullptr;  // the clone that is run
  bool is_traced_whole = false;
};
