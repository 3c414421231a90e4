// The private agreement between the fake driver and the fake CUPTI, as NVIDIA's two libraries have one: who calls what
// when. CUPTI finds the driver through the exported fake_cuda_driver() of whatever libcuda.so.1 the process has, and
// attaches an observer; the driver knows nothing of activity records.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tests/doubles/cuda/operation.h"

namespace jaxprof::fake_cuda {

inline constexpr int kMaxObservers = 4;  // libraries with a CUPTI inside

// A driver or runtime call, entered and left on one thread.
struct ApiEvent {
  bool is_runtime = false;
  std::uint32_t cbid = 0;
  const char* name = nullptr;
  const void* parameters = nullptr;
  const char* symbol = nullptr;  // the kernel of a launch
  CUcontext context = nullptr;
  std::uint32_t context_id = 0;
  std::uint32_t correlation = 0;
  CUresult result = CUDA_SUCCESS;
  std::int64_t begin_gpu_ns = 0;
  std::int64_t end_gpu_ns = 0;
  std::uint64_t correlation_data[kMaxObservers] = {};
};

// cbid: CUpti_CallbackIdResource.
struct ResourceEvent {
  std::uint32_t cbid = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::uint32_t module_id = 0;
  CUgraph graph = nullptr;
  CUgraph source_graph = nullptr;
  CUgraphNode node = nullptr;
  CUgraphNode source_node = nullptr;
  CUgraphNodeType node_type = CU_GRAPH_NODE_TYPE_EMPTY;
  CUgraphExec graph_exec = nullptr;
};

enum class SyncKind { kEvent, kStreamWaitEvent, kStream, kContext };
struct SyncEvent {
  SyncKind kind = SyncKind::kStream;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t event_id = 0;
  std::uint32_t correlation = 0;
  std::int64_t begin_gpu_ns = 0;
  std::int64_t end_gpu_ns = 0;
};
// cuEventRecord.
struct EventMark {
  std::uint32_t device = 0;
  std::uint32_t context_id = 0;
  std::uint32_t stream_id = 0;
  std::uint32_t event_id = 0;
  std::uint32_t correlation = 0;
};

// What the driver tells. `index` is the observer's place, for ApiEvent::correlation_data.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void enter(int index, ApiEvent& call) = 0;  // calling thread
  virtual void leave(int index, ApiEvent& call) = 0;
  virtual void submitted(Operation& operation) = 0;  // calling thread, before it is queued
  virtual void completed(Operation& operation) = 0;  // delivery thread
  virtual void resource(const ResourceEvent& event) = 0;
  virtual void synchronized(const SyncEvent& event) = 0;
  virtual void event_recorded(const EventMark& mark) = 0;
  // Does a graph that is instantiated now run as one operation on record?
  virtual bool traces_graphs() = 0;
  // Before anything else in any driver function, on the calling thread: inside a callback it may be forbidden.
  virtual void called(const char* name) = 0;
};

struct DeviceFacts {
  std::uint32_t id;
  std::string name;
  CUuuid uuid;
};
struct ContextFacts {
  CUcontext handle;
  std::uint32_t id;
  std::uint32_t device;
  std::uint32_t null_stream;
};
struct StreamFacts {
  CUstream handle;
  std::uint32_t id;
  std::uint32_t context;
  std::int32_t priority;
  bool is_blocking;
};

class Driver {
 public:
  virtual ~Driver() = default;
  // The observer's index; -1: too many.
  virtual int attach(Observer* observer) = 0;
  virtual bool is_initialized() = 0;
  // What cuInit has opened: whoever works with the driver needs it. -1: not yet.
  virtual int descriptor() = 0;
  virtual std::int64_t now_gpu_ns() = 0;
  // The process's one place for a tool. False: taken, and `holder` says by whom.
  virtual bool take_slot(const std::string& name, bool is_shared, std::string* holder) = 0;
  virtual void leave_slot(bool is_shared) = 0;
  virtual std::vector<DeviceFacts> devices() = 0;
  virtual std::vector<ContextFacts> contexts() = 0;
  virtual std::vector<StreamFacts> streams() = 0;
  // 0: no such object.
  virtual std::uint32_t stream_id(CUcontext context, CUstream stream) = 0;
  virtual std::uint32_t graph_id(CUgraph graph) = 0;
  virtual std::uint32_t graph_exec_id(CUgraphExec graph_exec) = 0;
  virtual std::uint64_t graph_node_id(CUgraphNode node) = 0;
};

}  // namespace jaxprof::fake_cuda

extern "C" jaxprof::fake_cuda::Driver* fake_cuda_driver();
