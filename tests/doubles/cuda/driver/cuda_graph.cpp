// CUDA graphs: built node by node or by capture, copied when instantiated (the copy's nodes have numbers of their own),
// and launched as many operations with one correlation id.

#include <cuda.h>
#include <cupti.h>

#include <vector>

#include "tests/doubles/cuda/driver/api_call.h"
#include "tests/doubles/cuda/driver/copy_operation.h"
#include "tests/doubles/cuda/driver/engine.h"
#include "tests/doubles/cuda/driver/graph_nodes.h"
#include "tests/doubles/cuda/driver/kernel_operation.h"

using namespace jaxprof::fake_cuda;

namespace {

std::vector<CUgraphNode> nodes_of(const CUgraphNode* nodes, size_t count) {
  return nodes == nullptr ? std::vector<CUgraphNode>() : std::vector<CUgraphNode>(nodes, nodes + count);
}

// The parameters are copied now, as the driver does: what they point to may be gone when the graph runs.
CUgraphNode add_kernel(CUgraph graph, const std::vector<CUgraphNode>& dependencies,
                       const CUDA_KERNEL_NODE_PARAMS& kernel) {
  const OperationPtr now = kernel_operation(kernel.func, {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                                            {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ},
                                            kernel.sharedMemBytes, kernel.kernelParams);
  return add_node(graph, CU_GRAPH_NODE_TYPE_KERNEL, dependencies, [kernel, parameters = now->parameters] {
    OperationPtr operation =
        kernel_operation(kernel.func, {kernel.gridDimX, kernel.gridDimY, kernel.gridDimZ},
                         {kernel.blockDimX, kernel.blockDimY, kernel.blockDimZ}, kernel.sharedMemBytes, nullptr);
    operation->parameters = parameters;
    return operation;
  });
}

CUresult instantiate(CUgraphExec* graph_exec, CUgraph graph) {
  Engine& engine = Engine::get();
  *graph_exec = new CUgraphExec_st;
  (*graph_exec)->graph = clone_graph(graph);
  (*graph_exec)->id = engine.next_graph();
  engine.each_observer([&](int, Observer& observer) { (*graph_exec)->is_traced_whole |= observer.traces_graphs(); });
  ResourceEvent event;
  event.cbid = CUPTI_CBID_RESOURCE_GRAPHEXEC_CREATED;
  event.context = engine.current();
  event.graph = (*graph_exec)->graph;
  event.source_graph = graph;
  event.graph_exec = *graph_exec;
  engine.tell(event);
  return CUDA_SUCCESS;
}

CUresult launch(CUgraphExec graph_exec, CUstream handle) {
  Engine& engine = Engine::get();
  CUstream const stream = engine.resolve(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
  auto run = std::make_shared<GraphRun>();
  run->graph = graph_exec->id;
  run->is_traced_whole = graph_exec->is_traced_whole;
  CUgraph const source = graph_exec->graph->source;
  for (CUgraphNode node : graph_exec->graph->nodes) {
    if (!node->make) continue;
    OperationPtr operation = node->make();
    operation->graph_run = run;
    operation->graph_node = node->id;
    operation->source_graph = source->id;
    operation->source_node = node->source->id;
    engine.submit(stream, std::move(operation));
  }
  auto whole = std::make_unique<Operation>();
  whole->kind = kFakeCudaGraph;
  whole->graph_run = run;
  engine.submit(stream, std::move(whole));
  return CUDA_SUCCESS;
}

CUresult end_capture(CUstream handle, CUgraph* graph) {
  CUstream const stream = Engine::get().resolve(handle);
  if (stream == nullptr || !stream->capture || stream->capture->origin != stream) return CUDA_ERROR_ILLEGAL_STATE;
  const auto capture = stream->capture;
  *graph = capture->graph;
  for (const auto& facts : Engine::get().streams()) {
    if (facts.handle->capture == capture) {
      facts.handle->capture = nullptr;
      facts.handle->last_captured = nullptr;
    }
  }
  return CUDA_SUCCESS;
}

void tell_destruction(std::uint32_t cbid, CUgraph graph, CUgraphExec graph_exec) {
  ResourceEvent event;
  event.cbid = cbid;
  event.context = Engine::get().current();
  event.graph = graph;
  event.graph_exec = graph_exec;
  Engine::get().tell(event);
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  return FAKE_CUDA_TRACED(cuGraphCreate, nullptr, ({graph, flags}), [&] {
    *graph = make_graph();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* kernel) {
  return FAKE_CUDA_TRACED(cuGraphAddKernelNode_v2, nullptr, ({node, graph, dependencies, count, kernel}), [&] {
    *node = add_kernel(graph, nodes_of(dependencies, count), *kernel);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* copy, CUcontext context) {
  return FAKE_CUDA_TRACED(cuGraphAddMemcpyNode, nullptr, ({node, graph, dependencies, count, copy, context}), [&] {
    const auto end = [](CUmemorytype type, CUdeviceptr device, const void* host) {
      return type == CU_MEMORYTYPE_HOST ? reinterpret_cast<CUdeviceptr>(host) : device;
    };
    const CUdeviceptr target = end(copy->dstMemoryType, copy->dstDevice, copy->dstHost);
    const CUdeviceptr source = end(copy->srcMemoryType, copy->srcDevice, copy->srcHost);
    const size_t bytes = copy->WidthInBytes * copy->Height * copy->Depth;
    *node = add_node(graph, CU_GRAPH_NODE_TYPE_MEMCPY, nodes_of(dependencies, count),
                     [=] { return copy_operation(target, source, bytes); });
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddMemsetNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* fill, CUcontext context) {
  return FAKE_CUDA_TRACED(cuGraphAddMemsetNode, nullptr, ({node, graph, dependencies, count, fill, context}), [&] {
    *node = add_node(graph, CU_GRAPH_NODE_TYPE_MEMSET, nodes_of(dependencies, count), [one = *fill] {
      return fill_operation(one.dst, one.value, one.elementSize, one.width * one.height);
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphAddHostNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* host) {
  return FAKE_CUDA_TRACED(cuGraphAddHostNode, nullptr, ({node, graph, dependencies, count, host}), [&] {
    *node = add_node(graph, CU_GRAPH_NODE_TYPE_HOST, nodes_of(dependencies, count), [one = *host] {
      auto operation = std::make_unique<Operation>();
      operation->act = [one] { one.fn(one.userData); };
      return operation;
    });
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphClone(CUgraph* clone, CUgraph graph) {
  return FAKE_CUDA_TRACED(cuGraphClone, nullptr, ({clone, graph}), [&] {
    *clone = clone_graph(graph);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode* nodes, size_t* count) {
  return FAKE_CUDA_TRACED(cuGraphGetNodes, nullptr, ({graph, nodes, count}), [&] {
    for (size_t i = 0; nodes != nullptr && i < *count && i < graph->nodes.size(); ++i) nodes[i] = graph->nodes[i];
    *count = graph->nodes.size();
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec* graph_exec, CUgraph graph, unsigned long long flags) {
  return FAKE_CUDA_TRACED(cuGraphInstantiateWithFlags, nullptr, ({graph_exec, graph, flags}),
                          [&] { return instantiate(graph_exec, graph); });
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* graph_exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* how) {
  return FAKE_CUDA_TRACED(cuGraphInstantiateWithParams, nullptr, ({graph_exec, graph, how}),
                          [&] { return instantiate(graph_exec, graph); });
}

CUresult cuGraphLaunch(CUgraphExec graph_exec, CUstream stream) {
  return FAKE_CUDA_TRACED(cuGraphLaunch, nullptr, ({graph_exec, stream}), [&] { return launch(graph_exec, stream); });
}

// Neither frees anything: a launch may be under way.
CUresult cuGraphExecDestroy(CUgraphExec graph_exec) {
  return FAKE_CUDA_TRACED(cuGraphExecDestroy, nullptr, {graph_exec}, [&] {
    tell_destruction(CUPTI_CBID_RESOURCE_GRAPHEXEC_DESTROY_STARTING, graph_exec->graph, graph_exec);
    return CUDA_SUCCESS;
  });
}

CUresult cuGraphDestroy(CUgraph graph) {
  return FAKE_CUDA_TRACED(cuGraphDestroy, nullptr, {graph}, [&] {
    tell_destruction(CUPTI_CBID_RESOURCE_GRAPH_DESTROY_STARTING, graph, nullptr);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  return FAKE_CUDA_TRACED(cuStreamBeginCapture_v2, nullptr, ({stream, mode}), [&] {
    CUstream const real = Engine::get().resolve(stream);
    if (real == nullptr || real->capture) return CUDA_ERROR_ILLEGAL_STATE;
    real->capture = std::make_shared<FakeCapture>();
    real->capture->graph = make_graph();
    real->capture->origin = real;
    real->last_captured = nullptr;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph* graph) {
  return FAKE_CUDA_TRACED(cuStreamEndCapture, nullptr, ({stream, graph}), [&] { return end_capture(stream, graph); });
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus* status) {
  return FAKE_CUDA_TRACED(cuStreamIsCapturing, nullptr, ({stream, status}), [&] {
    CUstream const real = Engine::get().resolve(stream);
    if (real == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    *status = real->capture ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"
