#include "tests/doubles/cuda/driver/graph_nodes.h"

#include <cupti.h>

#include <algorithm>
#include <iterator>

#include "tests/doubles/cuda/driver/engine.h"

namespace jaxprof::fake_cuda {
namespace {

void tell_graph(std::uint32_t cbid, CUgraph graph, CUgraphNode node) {
  ResourceEvent event;
  event.cbid = cbid;
  event.context = Engine::get().current();
  event.graph = graph;
  event.source_graph = graph->source;
  event.node = node;
  if (node != nullptr) {
    event.source_node = node->source;
    event.node_type = node->type;
  }
  Engine::get().tell(event);
}

// What a node runs again and again: a copy of all that a launch fixes.
OperationPtr copy_of(const Operation& original) {
  auto copy = std::make_unique<Operation>();
  copy->kind = original.kind;
  copy->is_visible = original.is_visible;
  copy->function = original.function;
  copy->name = original.name;
  std::copy(std::begin(original.grid), std::end(original.grid), copy->grid);
  std::copy(std::begin(original.block), std::end(original.block), copy->block);
  copy->shared_bytes = original.shared_bytes;
  copy->parameters = original.parameters;
  copy->bytes = original.bytes;
  copy->fill_value = original.fill_value;
  copy->source = original.source;
  copy->target = original.target;
  copy->source_device = original.source_device;
  copy->target_device = original.target_device;
  copy->act = original.act;
  return copy;
}

CUgraphNodeType type_of(const Operation& operation) {
  switch (operation.kind) {
    case kFakeCudaKernel:
      return CU_GRAPH_NODE_TYPE_KERNEL;
    case kFakeCudaCopy:
      return CU_GRAPH_NODE_TYPE_MEMCPY;
    case kFakeCudaFill:
      return CU_GRAPH_NODE_TYPE_MEMSET;
    case kFakeCudaHost:
      return CU_GRAPH_NODE_TYPE_HOST;
    case kFakeCudaGraph:
      break;
  }
  return CU_GRAPH_NODE_TYPE_EMPTY;
}

}  // namespace

CUgraph make_graph() {
  auto* const graph = new CUgraph_st;
  graph->id = Engine::get().next_graph();
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CREATED, graph, nullptr);
  return graph;
}

CUgraphNode add_node(CUgraph graph, CUgraphNodeType type, const std::vector<CUgraphNode>& dependencies,
                     std::function<OperationPtr()> make) {
  auto* const node = new CUgraphNode_st;
  node->id = Engine::get().next_node();
  node->type = type;
  node->dependencies = dependencies;
  node->make = std::move(make);
  graph->nodes.push_back(node);
  tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph, node);
  return node;
}

CUgraph clone_graph(CUgraph graph) {
  auto* const clone = new CUgraph_st;
  clone->id = Engine::get().next_graph();
  clone->source = graph;
  for (CUgraphNode original : graph->nodes) {
    auto* const node = new CUgraphNode_st(*original);
    node->id = Engine::get().next_node();
    node->source = original;
    for (CUgraphNode& dependency : node->dependencies) {
      const auto place = std::find(graph->nodes.begin(), graph->nodes.end(), dependency) - graph->nodes.begin();
      dependency = clone->nodes[static_cast<std::size_t>(place)];
    }
    clone->nodes.push_back(node);
  }
  tell_graph(CUPTI_CBID_RESOURCE_GRAPH_CLONED, clone, nullptr);
  for (CUgraphNode node : clone->nodes) tell_graph(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, clone, node);
  return clone;
}

void capture(CUstream stream, OperationPtr operation) {
  if (!operation->is_visible) return;  // waits and marks are edges of the graph
  std::vector<CUgraphNode> dependencies;
  if (stream->last_captured != nullptr) dependencies.push_back(stream->last_captured);
  const CUgraphNodeType type = type_of(*operation);
  const std::shared_ptr<Operation> original(std::move(operation));
  stream->last_captured =
      add_node(stream->capture->graph, type, dependencies, [original] { return copy_of(*original); });
}

}  // namespace jaxprof::fake_cuda
