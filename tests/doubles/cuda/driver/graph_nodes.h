// Nodes of CUDA graphs, and what a stream does instead of running while it is captured.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "tests/doubles/cuda/driver/handles.h"

namespace jaxprof::fake_cuda {

CUgraph make_graph();
CUgraphNode add_node(CUgraph graph, CUgraphNodeType type, const std::vector<CUgraphNode>& dependencies,
                     std::function<OperationPtr()> make);
// A copy with new numbers, each node's `source` the original.
CUgraph clone_graph(CUgraph graph);
// Adds the operation to the graph that `stream` captures.
void capture(CUstream stream, OperationPtr operation);

}  // namespace jaxprof::fake_cuda
